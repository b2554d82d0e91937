import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { errorCode } from '../../primitives/durable-file.ts'
import type { SealedSecret, SecretStore } from '../../store/ports/secrets.ts'
import type { Transactions } from '../../store/ports/store.ts'
import { createKeyFile, newKey, readKeys, type SealingKey, stampOf, writeKeys } from './key-file.ts'

type VaultStore = SecretStore & Transactions<SecretStore>

interface VaultParts {
  readonly store: VaultStore
  /** Has the keys; mode 0600. */
  readonly file: string
  readonly now: () => number
}

/**
 * Secrets in the store, encrypted with AES-256-GCM under a key from a file. The name of a secret is authenticated, too: a writer of
 * the store must not be able to exchange two secrets. No secret and no key is ever part of an error.
 */
export class Vault {
  readonly #parts: VaultParts
  #keys: readonly SealingKey[] = []
  #stamp = ''

  private constructor(parts: VaultParts) {
    this.#parts = parts
  }

  /**
   * Creates the key file with the first use of a store. Rejects with a sentence if the file lacks the key with which the store is
   * sealed.
   */
  static async open(parts: VaultParts): Promise<Vault> {
    const vault = new Vault(parts)
    const { store, file } = parts
    vault.#read()
    const present = await store.sealingKey()
    if (present === undefined) await vault.#begin()
    else if (!vault.#find(present))
      throw new Error(
        `The secrets in the store are sealed with ${present}, which the key file ${file} does not have. ` +
          'Copy that file from another instance or from a backup, with mode 0600. ' +
          'If it is lost for good, run drawbridge keys rotate --lost: issued certificates are then ordered anew.',
      )
    return vault
  }

  /** The ids of all keys of the file. Reads the file again when it has changed. */
  keyIds(): readonly string[] {
    this.#readAgain()
    return this.#keys.map(({ id }) => id)
  }

  async read(name: string): Promise<string | undefined> {
    const sealed = await this.#parts.store.findSecret(name)
    return sealed && this.unseal(sealed)
  }

  /** Inserts or replaces a secret, with `beside` in the same transaction. */
  async put(name: string, text: string, beside?: (session: SecretStore) => Promise<void>): Promise<void> {
    const { store, now } = this.#parts
    await store.transaction(async (session) => {
      await session.putSecret(this.#seal(name, text, await session.holdSealingKey()), now())
      await beside?.(session)
    })
  }

  /** Resolves with the stored text: `text`, unless another instance was faster. */
  async putOnce(name: string, text: string): Promise<string> {
    const { store, now } = this.#parts
    return store.transaction(async (session) => {
      const keyId = await session.holdSealingKey()
      const present = await session.findSecret(name)
      if (present) return this.unseal(present)
      await session.putSecret(this.#seal(name, text, keyId), now())
      return text
    })
  }

  /** Replaces the stored text by the result of `next`, atomically. If `next` throws, the stored text stays. */
  async change(name: string, next: (stored: string | undefined) => string): Promise<void> {
    const { store, now } = this.#parts
    await store.transaction(async (session) => {
      const keyId = await session.holdSealingKey()
      const present = await session.findSecret(name)
      await session.putSecret(this.#seal(name, next(present && this.unseal(present)), keyId), now())
    })
  }

  /** Waits for a rotation that is under way: it would write again what it has read before. */
  async drop(name: string): Promise<void> {
    await this.#parts.store.transaction(async (session) => {
      await session.holdSealingKey()
      await session.deleteSecret(name)
    })
  }

  unseal(secret: SealedSecret): string {
    const key = this.#find(secret.keyId)
    if (!key)
      throw new Error(
        `The key file ${this.#parts.file} does not have ${secret.keyId}. Copy it from another instance, with mode 0600.`,
      )
    return openWith(key, secret)
  }

  #seal(name: string, text: string, keyId: string | undefined): SealedSecret {
    const key = keyId === undefined ? undefined : this.#find(keyId)
    if (!key)
      throw new Error(
        `The key file ${this.#parts.file} does not have ${keyId}. Copy it from another instance, with mode 0600.`,
      )
    return sealWith(key, name, text)
  }

  /** The first instance on a store decides its key. */
  async #begin(): Promise<void> {
    const { store, file } = this.#parts
    if (this.#keys.length === 0) {
      await createKeyFile(file, newKey()).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST')
          throw new Error(`The key file ${file} cannot be written (${errorCode(error) ?? 'unknown reason'}).`)
      })
      this.#read()
    }
    const [newest] = this.#keys
    if (newest && (await store.setSealingKey(newest.id, undefined))) return
    const present = await store.sealingKey()
    if (present !== undefined && this.#find(present)) return
    throw new Error(
      `Another instance has begun to seal the secrets of this store with ${present}. Copy its key file to ${file}, with mode 0600.`,
    )
  }

  /** An administrator may have put a newer file in place. */
  #find(keyId: string): SealingKey | undefined {
    const found = this.#keys.find(({ id }) => id === keyId)
    if (found) return found
    this.#readAgain()
    return this.#keys.find(({ id }) => id === keyId)
  }

  #readAgain(): void {
    if (stampOf(this.#parts.file) !== this.#stamp) this.#read()
  }

  #read(): void {
    this.#stamp = stampOf(this.#parts.file)
    this.#keys = readKeys(this.#parts.file)
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

function sealWith({ id, bytes }: SealingKey, name: string, text: string): SealedSecret {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, bytes, nonce).setAAD(boundTo(name, id))
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return { name, keyId: id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), content]).toString('base64') }
}

function openWith({ bytes }: SealingKey, { name, keyId, sealed }: SealedSecret): string {
  const all = Buffer.from(sealed, 'base64')
  const [nonce, rest] = [all.subarray(0, NONCE_BYTES), all.subarray(NONCE_BYTES)]
  try {
    const decipher = createDecipheriv(CIPHER, bytes, nonce, { authTagLength: TAG_BYTES })
      .setAAD(boundTo(name, keyId))
      .setAuthTag(rest.subarray(0, TAG_BYTES))
    return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    throw new Error(`The secret ${JSON.stringify(name)} in the store was changed outside Drawbridge, or is damaged.`)
  }
}

const boundTo = (name: string, keyId: string): Buffer => Buffer.from(JSON.stringify([name, keyId]))

export interface Rotation {
  readonly from: string | undefined
  readonly to: string
  readonly sealed: number
  /** Secrets that no key of the file opens. They were deleted at the caller's request. */
  readonly lost: readonly string[]
}

interface RotationParts extends VaultParts {
  /** Resolves when every running instance has the key. Rejects with a sentence if one has not. */
  readonly untilShared: (keyId: string) => Promise<void>
  /** Whether to delete what cannot be opened. */
  readonly forgetsLost: boolean
}

/**
 * Seals all secrets with a new key, in one transaction. Before, the new key is added to the file beside the old ones. Afterwards,
 * the old ones are removed. After a crash, the file still opens everything. If an instance does not have the new key yet, nothing
 * is sealed, and the next call continues with the same key.
 */
export async function rotateKeys({ store, file, now, untilShared, forgetsLost }: RotationParts): Promise<Rotation> {
  const keys = readKeys(file)
  const present = await store.sealingKey()
  const isBegun = keys[0] !== undefined && keys[0].id !== present
  const next = isBegun && keys[0] ? keys[0] : newKey()
  if (!isBegun) await writeKeys(file, [next, ...keys])
  await untilShared(next.id)
  const rotation = await store.transaction(async (session): Promise<Rotation> => {
    const from = await session.holdSealingKey()
    const lost: string[] = []
    let sealed = 0
    for (const secret of await session.listSecrets()) {
      const key = [next, ...keys].find(({ id }) => id === secret.keyId)
      if (key) await session.putSecret(sealWith(next, secret.name, openWith(key, secret)), now())
      else if (!forgetsLost) throw lacks(file, secret.keyId)
      else await forget(session, secret.name)
      if (key) sealed += 1
      else lost.push(secret.name)
    }
    await session.setSealingKey(next.id, from)
    return { from, to: next.id, sealed, lost }
  })
  await writeKeys(file, [next])
  return rotation
}

const CERTIFICATE = 'certificate '

/** The name of the secret that is the key of a certificate. */
export const keyNameOf = (fingerprint: string): string => `${CERTIFICATE}${fingerprint}`

async function forget(session: SecretStore, name: string): Promise<void> {
  await session.deleteSecret(name)
  if (name.startsWith(CERTIFICATE)) await session.deleteCertificate(name.slice(CERTIFICATE.length))
}

const lacks = (file: string, keyId: string): Error =>
  new Error(
    `Secrets are sealed with ${keyId}, which ${file} does not have. Nothing was changed. Copy the file from another instance or ` +
      'from a backup. If it is lost for good, pass --lost.',
  )
