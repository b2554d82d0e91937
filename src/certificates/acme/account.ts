import { Client } from 'acme-client'
import { IssueFault } from '../contract.ts'
import { AcmeProblem } from './problem.ts'

/** Of the nonces that an authority gave, it may refuse any number: nothing happened then, and asking again is all it takes. */
const NONCE_ATTEMPTS = 30

export interface AccountOptions {
  readonly directory: string
  /** E-mail addresses. */
  readonly contact: readonly string[]
  readonly key: () => Promise<string>
  readonly externalAccount?: ExternalAccount | undefined
}

/** What the authority gave to somebody whom it knows already (RFC 8555 section 7.3.4). `hmacKey` is in base64url. */
export interface ExternalAccount {
  readonly keyId: string
  readonly hmacKey: string
}

/** One question to the authority, under our account: one signed request. */
export type Ask = <T>(question: (client: Client) => Promise<T>) => Promise<T>

/** Registers on first use, and again when the authority says that it knows no such account. Rejects with AcmeProblem or IssueFault. */
export function acmeAccount(options: AccountOptions): Ask {
  let registered: Promise<Client> | undefined

  const registration = (): Promise<Client> => {
    registered ??= register(options).catch((error: unknown) => {
      registered = undefined
      throw error
    })
    return registered
  }
  return async (question) => {
    const client = await registration()
    try {
      return await patiently(client, question)
    } catch (error) {
      if (!isProblem(error, 'accountDoesNotExist')) throw error
      registered = undefined
      return patiently(await registration(), question)
    }
  }
}

/** For a key that is registered already the authority answers with the account that there is. */
async function register({ directory, contact, key, externalAccount }: AccountOptions): Promise<Client> {
  const binding = externalAccount && {
    externalAccountBinding: { kid: externalAccount.keyId, hmacKey: externalAccount.hmacKey },
  }
  const client = new Client({ directoryUrl: directory, accountKey: await key(), ...binding })
  await patiently(client, () =>
    client.createAccount({ termsOfServiceAgreed: true, contact: contact.map((address) => `mailto:${address}`) }),
  )
  return client
}

async function patiently<T>(client: Client, question: (client: Client) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await question(client)
    } catch (error) {
      if (isProblem(error, 'badNonce') && attempt < NONCE_ATTEMPTS) continue
      if (error instanceof AcmeProblem || error instanceof IssueFault) throw error
      throw new IssueFault('unavailable', 'The certificate authority answered with something that is not ACME.')
    }
  }
}

const isProblem = (error: unknown, type: string): boolean => error instanceof AcmeProblem && error.type === type
