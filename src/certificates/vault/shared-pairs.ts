import { X509Certificate } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isCertificateName } from '../../model/dns-name.ts'
import type { SecretStore, StoredCertificate } from '../../store/ports/secrets.ts'
import type { PemPair } from '../contract.ts'
import type { InstalledNames } from '../stock/installed-names.ts'
import { digest, foldersOfName, installPair, isPreviousPair, issuedFolder } from '../stock/issued-files.ts'
import { coveringName, describeLeaf } from '../stock/pair.ts'
import { makePrivateFolder, readIfExists } from '../stock/private-file.ts'
import { keyNameOf, type Vault } from './vault.ts'

interface SharedPairsParts {
  readonly stateDir: string
  readonly store: Pick<
    SecretStore,
    'listCertificates' | 'certificatesOf' | 'certificateNamesSince' | 'newestCertificate'
  >
  readonly vault: Pick<Vault, 'read' | 'put'>
  readonly now: () => number
  /** Is told of every pair that is new in the folder. */
  readonly installed: Pick<InstalledNames, 'add'>
}

/** A pair in the folder of issued certificates of this instance. */
interface LocalPair extends PemPair {
  readonly firstName: string
  readonly notBefore: number
  readonly isPrevious: boolean
}

/** The present pair of each name, and the one before: hosts may still use it. */
const KEPT = 2

/**
 * Issued certificates and their keys are in the store, where all instances find them. The folder of each instance has the same
 * pairs as files, and is brought up to date from the store.
 */
export class SharedPairs {
  readonly #parts: SharedPairsParts
  /** When the newest certificate was stored that the folder has. */
  #newest: number | undefined
  #working: Promise<void> = Promise.resolve()

  constructor(parts: SharedPairsParts) {
    this.#parts = parts
  }

  /** Stores a pair that was issued and is in the folder. Repeatable. Durable when it resolves. */
  async publish(firstName: string, { certificatePem, keyPem, fingerprint }: PemPair): Promise<void> {
    const { store, vault, now, installed } = this.#parts
    installed.add(firstName)
    const isIn = (present: readonly StoredCertificate[]) => present.some((stored) => stored.fingerprint === fingerprint)
    if (!isIn(await store.certificatesOf(firstName)))
      await vault.put(keyNameOf(fingerprint), keyPem, async (session) => {
        const present = await session.certificatesOf(firstName)
        if (isIn(present)) return
        // The sealing key is held, so of all instances one publishes at a time, and the times grow whatever their clocks say.
        const storedAt = Math.max(now(), (await session.newestCertificate()) + 1)
        await session.putCertificate({ fingerprint, firstName, chain: certificatePem, storedAt })
        for (const outdated of present.slice(0, Math.max(0, present.length + 1 - KEPT))) {
          await session.deleteCertificate(outdated.fingerprint)
          await session.deleteSecret(keyNameOf(outdated.fingerprint))
        }
      })
  }

  /** Synchronizes store and folder, unless the store has nothing new. Concurrent calls share one run. */
  async update(): Promise<void> {
    if ((await this.#parts.store.newestCertificate()) === this.#newest) return
    this.#working = this.#working.catch(() => undefined).then(() => this.#bringTogether())
    await this.#working
  }

  /** The first time everything, then the names that have a new pair. */
  async #bringTogether(): Promise<void> {
    const { stateDir, store } = this.#parts
    // Read first: the next run finds changes that are stored meanwhile.
    const newest = await store.newestCertificate()
    if (this.#newest === undefined) {
      const local = Map.groupBy(await localPairs(stateDir), ({ firstName }) => firstName)
      const stored = Map.groupBy(await store.listCertificates(), ({ firstName }) => firstName)
      for (const name of new Set([...local.keys(), ...stored.keys()]))
        await this.#bringName(name, local.get(name) ?? [], stored.get(name) ?? [])
    } else
      for (const name of await store.certificateNamesSince(this.#newest))
        await this.#bringName(name, await localPairsOf(stateDir, name), await store.certificatesOf(name))
    this.#newest = newest
  }

  /** The newer pair wins: an instance that was away has an older pair than the store. */
  async #bringName(name: string, local: readonly LocalPair[], rows: readonly StoredCertificate[]): Promise<void> {
    // A writer of the store must not be able to choose a folder here, or to replace the pair of another host.
    const stored = rows.filter(isOfItsName)
    const here = local.find(({ isPrevious }) => !isPrevious)
    const newest = stored.at(-1)
    if (here && here.fingerprint === newest?.fingerprint) return
    if (here && (!newest || here.notBefore > leafOf(newest.chain).validFromDate.getTime())) {
      const toPublish = newest ? [here] : local.toSorted((a, b) => Number(b.isPrevious) - Number(a.isPrevious))
      for (const pair of toPublish) await this.publish(name, pair)
      return
    }
    for (const { fingerprint, chain } of stored.slice(-KEPT))
      if (!local.some((pair) => pair.fingerprint === fingerprint)) await this.#install(name, fingerprint, chain)
  }

  async #install(name: string, fingerprint: string, certificatePem: string): Promise<void> {
    const { stateDir, vault, installed } = this.#parts
    const keyPem = await vault.read(keyNameOf(fingerprint))
    if (keyPem === undefined) return
    const folder = await makePrivateFolder(stateDir, 'acme', 'shared')
    await installPair(stateDir, { folder, key: '' }, name, { certificatePem, keyPem })
    installed.add(name)
  }
}

async function localPairs(stateDir: string): Promise<readonly LocalPair[]> {
  const folder = issuedFolder(stateDir)
  const names = await readdir(folder).catch(() => [])
  return pairsIn(names.map((name) => join(folder, name)))
}

const localPairsOf = (stateDir: string, name: string): Promise<readonly LocalPair[]> =>
  pairsIn(foldersOfName(issuedFolder(stateDir), name))

async function pairsIn(folders: readonly string[]): Promise<readonly LocalPair[]> {
  const found = await Promise.all(folders.map(localPair))
  const pairs = found.filter((pair) => pair !== undefined)
  const live = new Map(pairs.filter(({ isPrevious }) => !isPrevious).map((pair) => [digest(pair.firstName), pair]))
  // The folder of a former pair has only the digest of its name.
  return pairs.map((pair) =>
    pair.isPrevious ? { ...pair, firstName: live.get(pair.firstName)?.firstName ?? pair.firstName } : pair,
  )
}

/** Undefined for what is not a complete pair. */
async function localPair(folder: string): Promise<LocalPair | undefined> {
  const name = basename(folder)
  const certificateFile = join(folder, 'fullchain.pem')
  const [certificatePem, keyPem] = await Promise.all([
    readIfExists(certificateFile),
    readIfExists(join(folder, 'privkey.pem')),
  ]).catch(() => [])
  if (certificatePem === undefined || keyPem === undefined) return undefined
  try {
    const leaf = leafOf(certificatePem)
    const isPrevious = isPreviousPair(certificateFile)
    return {
      ...{ certificatePem, keyPem, isPrevious },
      fingerprint: leaf.fingerprint256,
      firstName: isPrevious ? name.slice(name.lastIndexOf('-') + 1) : name.replace('_wildcard', '*'),
      notBefore: leaf.validFromDate.getTime(),
    }
  } catch {
    return undefined
  }
}

function isOfItsName({ firstName, fingerprint, chain }: StoredCertificate): boolean {
  try {
    const leaf = leafOf(chain)
    const isFor = describeLeaf(leaf).names.includes(firstName) || coveringName(leaf, firstName) !== undefined
    return isCertificateName(firstName) && isFor && leaf.fingerprint256 === fingerprint
  } catch {
    return false
  }
}

const leafOf = (chain: string): X509Certificate => new X509Certificate(chain)
