import { existsSync } from 'node:fs'
import type { Clock } from '../../primitives/clock.ts'
import { IssueFault, type OrderSecrets } from '../contract.ts'
import { accountKeyFile, accountKeyPath } from '../stock/issued-files.ts'
import { checkedKey, readIfExists, readOrCreateKey, writePrivateFile } from '../stock/private-file.ts'
import { type AcmeClient, acmeClient, type Identity, isProblem } from './client.ts'
import type { HttpResponse, Send } from './connection.ts'
import { accountSigner, type Signer, signWithHmac } from './jws.ts'
import { type Endpoints, readAccount } from './resources.ts'

export interface AccountKeySource {
  readonly stateDir: string
  readonly directory: string
  /** PEM from the configuration. It is used instead of the key in the state folder. */
  readonly accountKey?: string | undefined
  /** Where instances share the key. Undefined: it is only in the state folder. */
  readonly secrets?: OrderSecrets | undefined
}

export interface AccountOptions extends AccountKeySource {
  /** E-mail addresses. */
  readonly contact: readonly string[]
  readonly clock: Clock
  readonly externalAccount?: ExternalAccount | undefined
}

/** Credentials of an existing customer account at the authority (RFC 8555 section 7.3.4). `hmacKey` is in base64url. */
export interface ExternalAccount {
  readonly keyId: string
  readonly hmacKey: string
}

/** Requests under the account over one connection. Each rejects with AcmeProblem or IssueFault. */
export interface AccountSession {
  /** POST-as-GET. */
  read(url: string): Promise<HttpResponse>
  post(url: string, payload: object): Promise<HttpResponse>
  endpoints(): Promise<Endpoints>
  /** What the authority expects as proof for a challenge with this token. */
  keyAuthorization(token: string): Promise<string>
}

/** An account at the authority. */
interface Account extends Identity {
  readonly accountUrl: string
}

/**
 * One account for every connection. It is registered on first use, and registered again when the authority answers that it
 * does not exist.
 */
export function acmeAccount(options: AccountOptions): (send: Send) => AccountSession {
  let registered: Promise<Account> | undefined

  return (send) => {
    const client = acmeClient(send, options.directory, options.clock)
    const account = (): Promise<Account> => {
      const running = registered ?? register(client, options)
      registered = running
      running.catch(() => forget(running))
      return running
    }
    const forget = (former: Promise<Account>) => {
      if (registered === former) registered = undefined
    }
    const post = async (url: string, payload: object | undefined): Promise<HttpResponse> => {
      const used = account()
      const identity = await used
      try {
        return await client.post(url, payload, identity)
      } catch (error) {
        if (!isProblem(error, 'accountDoesNotExist')) throw error
        forget(used)
        return client.post(url, payload, await account())
      }
    }
    return {
      read: (url) => post(url, undefined),
      post,
      endpoints: client.endpoints,
      keyAuthorization: async (token) => `${token}.${(await account()).signer.thumbprint}`,
    }
  }
}

/** For a key that is registered already the authority answers with the existing account (200), whose contacts may be out of date. */
async function register(client: AcmeClient, options: AccountOptions): Promise<Account> {
  const signer = accountSigner(await accountKeyOf(options))
  const { newAccount } = await client.endpoints()
  const contact = options.contact.map((address) => `mailto:${address}`)
  const request = { termsOfServiceAgreed: true, contact, ...binding(options, signer, newAccount) }
  const response = await client.post(newAccount, request, { signer })
  const known = readAccount(response)
  const account = { signer, accountUrl: known.url }
  const isCurrent = response.status !== 200 || known.contact.toSorted().join() === contact.toSorted().join()
  if (!isCurrent) await client.post(account.accountUrl, { contact }, account)
  return account
}

const binding = ({ externalAccount }: AccountOptions, { jwk }: Signer, url: string) =>
  externalAccount && {
    externalAccountBinding: signWithHmac(externalAccount.hmacKey, { kid: externalAccount.keyId, url }, jwk),
  }

/** The key of the account as PEM. It is created on first use unless the configuration names one. */
async function accountKeyOf({ stateDir, directory, accountKey, secrets }: AccountKeySource): Promise<string> {
  if (accountKey !== undefined)
    return checkedKey(accountKey, 'The file named by acme.accountKeyFile does not have a private key.')
  const file = await accountKeyFile(stateDir, directory)
  const name = `acme-account ${directory}`
  const shared = await secrets?.read(name)
  const own = shared ?? (await readOrCreateKey(file))
  const key = secrets && shared === undefined ? await secrets.putOnce(name, own) : own
  // The file is what `drawbridge acme export-account` reads.
  if (key !== (await readIfExists(file))) await writePrivateFile(file, key)
  return checkedKey(key, 'The account key in the store is not a private key.')
}

/** Gives the key to `create`, which writes a new file that only its owner can read. Creates no key. */
export async function exportAccountKey(
  source: AccountKeySource,
  create: (pem: string) => Promise<void>,
): Promise<void> {
  if (source.accountKey === undefined && !existsSync(accountKeyPath(source.stateDir, source.directory)))
    throw new IssueFault(
      'local',
      `There is no account at ${source.directory} yet. Drawbridge creates it with the first order of a certificate.`,
    )
  await create(await accountKeyOf(source))
}
