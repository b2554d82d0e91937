import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { withEdgeFaults } from '../../edge/faults.ts'
import { PAIRS } from '../../edge/layout.ts'
import { certificateId } from '../../edge/record/entry.ts'
import { isForHost } from '../../edge/visit/ask.ts'
import { MAX_PARTS, type PemKind } from '../../estate/layout.ts'
import { replaceFile, syncFolder } from '../../primitives/durable-file.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import { pemFolder } from '../config/shards.ts'

/** A certificate with its key, as PEM. */
export interface Pair {
  readonly certificatePem: string
  readonly keyPem: string
}

/** An unused pair is dropped after this time. Until then, an undo may need it. */
const UNUSED_MS = 3_600_000
const MOST_KNOWN = 200
/** A sender of made-up certificates must not fill the disk. */
const MOST_PAIRS = 50_000

/** All certificates with their keys that the edge has received, each once, by id. They must never leave the edge. */
export class Pairs {
  readonly #folder: string
  readonly #now: () => number
  readonly #writes = new KeyedQueue()
  readonly #leaves = new LruCache<string, X509Certificate>(MOST_KNOWN)
  /** When each pair became unused. */
  readonly #unused = new Map<string, number>()

  constructor(folder: string, now: () => number) {
    this.#folder = join(folder, PAIRS)
    this.#now = now
  }

  has(id: string): boolean {
    return existsSync(join(this.#folder, id, KEY))
  }

  get ids(): readonly string[] {
    return existsSync(this.#folder) ? readdirSync(this.#folder).filter((name) => /^[0-9a-f]{32}$/.test(name)) : []
  }

  /** Undefined if the edge does not have it. */
  find(id: string): Pair | undefined {
    if (!this.has(id)) return undefined
    const [certificatePem = '', keyPem = ''] = [CERTIFICATE, KEY].map((name) =>
      readFileSync(join(this.#folder, id, name), 'utf8'),
    )
    return { certificatePem, keyPem }
  }

  /** Whether the certificate is valid for the host. False if the edge does not have it. */
  isFor(id: string, host: string): boolean {
    const leaf = this.#leaves.get(id) ?? leafOf(this.find(id)?.certificatePem)
    if (!leaf) return false
    this.#leaves.set(id, leaf)
    return isForHost(leaf, host)
  }

  /**
   * Stores a pair. Durable when it resolves. Rejects with `change_invalid` if the pair is not a certificate with its key, or is too
   * long.
   */
  async put({ certificatePem, keyPem }: Pair): Promise<string> {
    const id = idOf(certificatePem, keyPem)
    renderPair(id, { certificatePem, keyPem })
    await this.#writes.run(id, () => this.#write(id, { certificatePem, keyPem }))
    return id
  }

  async #write(id: string, { certificatePem, keyPem }: Pair): Promise<void> {
    this.#unused.delete(id)
    if (this.has(id)) return
    if (this.ids.length >= MOST_PAIRS) throw unusable(`The edge has ${MOST_PAIRS} certificates already`)
    const place = join(this.#folder, id)
    await withEdgeFaults(place, async () => {
      mkdirSync(place, { recursive: true, mode: 0o700 })
      await replaceFile(join(place, CERTIFICATE), certificatePem, 0o600)
      // Written last: if the key exists, both files exist.
      await replaceFile(join(place, KEY), keyPem, 0o600)
      await syncFolder(this.#folder)
    })
  }

  /** Drops pairs that were unused for an hour. `used`: the ids that entries name, also in generations that may be restored. */
  forget(used: ReadonlySet<string>): void {
    const now = this.#now()
    for (const id of this.ids) {
      if (used.has(id)) this.#unused.delete(id)
      else if (!this.#unused.has(id)) this.#unused.set(id, now)
      else if (now - (this.#unused.get(id) ?? now) >= UNUSED_MS) {
        rmSync(join(this.#folder, id), { recursive: true, force: true })
        this.#unused.delete(id)
      }
    }
  }
}

const CERTIFICATE = 'certificate.pem'
const KEY = 'key.pem'

function leafOf(pem: string | undefined): X509Certificate | undefined {
  try {
    return pem === undefined ? undefined : new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function idOf(certificatePem: string, keyPem: string): string {
  try {
    const leaf = new X509Certificate(certificatePem)
    if (!createPublicKey(createPrivateKey(keyPem)).equals(leaf.publicKey))
      throw unusable('The key belongs to another certificate')
    return certificateId(leaf.fingerprint256)
  } catch (error) {
    throw error instanceof EdgeFault ? error : unusable('It is not a certificate with its key')
  }
}

const unusable = (reason: string): EdgeFault =>
  new EdgeFault('change_invalid', `The certificate is not taken: ${reason}.`)

/** 48 lines of at most 65 characters are below the 4,096 characters that nginx allows for one value. */
const LINES_PER_PART = 48
const PEM_LINE = /^(?:-----(?:BEGIN|END) (?:CERTIFICATE|(?:EC |RSA )?PRIVATE KEY)-----|[A-Za-z0-9+/]{1,64}={0,2})$/

/** The parts of a pair in nginx's maps, by folder. Throws for a text that is not PEM, or is too long. */
export function renderPair(id: string, { certificatePem, keyPem }: Pair): ReadonlyMap<string, string> {
  return new Map([...renderPem('certificate', id, certificatePem), ...renderPem('key', id, keyPem)])
}

function renderPem(kind: PemKind, id: string, pem: string): [string, string][] {
  const lines = pem.split(/\r?\n/).filter((line) => line !== '')
  if (lines.length === 0 || !lines.every((line) => PEM_LINE.test(line))) throw unusable(`The ${kind} is not PEM text`)
  const parts = Array.from({ length: Math.ceil(lines.length / LINES_PER_PART) }, (_, index) =>
    lines.slice(index * LINES_PER_PART, (index + 1) * LINES_PER_PART),
  )
  if (parts.length > MAX_PARTS[kind]) throw unusable(`The ${kind} is too long for the nginx configuration`)
  return parts.map((part, index) => [pemFolder(kind, index + 1), `${id} "${part.join('\n')}\n";\n`])
}
