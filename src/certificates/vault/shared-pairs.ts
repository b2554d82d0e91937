import { X509Certificate } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isCertificateName } from '../../model/dns-name.ts'
import type { SecretStore, StoredCertificate } from '../../store/ports/secrets.ts'
import type { PemPair } from '../contract.ts'
import { digest, installPair, isPreviousPair, issuedFolder } from '../stock/issued-files.ts'
import { coveringName, describeLeaf } from '../stock/pair.ts'
import { makePrivateFolder, readIfExists } from '../stock/private-file.ts'
import { keyNameOf, type Vault } from './vault.ts'

interface SharedPairsParts {
  readonly stateDir: string
  readonly store: Pick<SecretStore, 'listCertificates' | 'certificatesVersion'>
  readonly vault: Pick<Vault, 'read' | 'put'>
  readonly now: () => number
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
  #version = ''
  #working: Promise<void> = Promise.resolve()

  constructor(parts: SharedPairsParts) {
    this.#parts = parts
  }

  /** Stores a pair that was issued. Repeatable. Durable when it resolves. */
  async publish(firstName: string, { certificatePem, keyPem, fingerprint }: PemPair): Promise<void> {
    const { store, vault, now } = this.#parts
    const present = (await store.listCertificates()).filter((stored) => stored.firstName === firstName)
    if (present.some((stored) => stored.fingerprint === fingerprint)) return
    const last = present.at(-1)?.storedAt ?? 0
    const storedAt = Math.max(now(), last + 1)
    const outdated = present.slice(0, Math.max(0, present.length + 1 - KEPT))
    await vault.put(keyNameOf(fingerprint), keyPem, async (session) => {
      await session.putCertificate({ fingerprint, firstName, chain: certificatePem, storedAt })
      for (const each of outdated) {
        await session.deleteCertificate(each.fingerprint)
        await session.deleteSecret(keyNameOf(each.fingerprint))
      }
    })
  }

  /** Synchronizes store and folder, unless the store has nothing new. Concurrent calls share one run. */
  async update(): Promise<void> {
    const version = await this.#parts.store.certificatesVersion()
    if (version === this.#version) return
    this.#working = this.#working.catch(() => undefined).then(() => this.#bringTogether())
    await this.#working
  }

  async #bringTogether(): Promise<void> {
    const { stateDir, store } = this.#parts
    // Read first: the next run finds changes that are stored meanwhile.
    const version = await store.certificatesVersion()
    const local = Map.groupBy(await localPairs(stateDir), ({ firstName }) => firstName)
    // A writer of the store must not be able to choose a folder here, or to replace the pair of another host.
    const certificates = (await store.listCertificates()).filter(isOfItsName)
    const stored = Map.groupBy(certificates, ({ firstName }) => firstName)
    for (const name of new Set([...local.keys(), ...stored.keys()]))
      await this.#bringName(name, local.get(name) ?? [], stored.get(name) ?? [])
    this.#version = version
  }

  /** The newer pair wins: an instance that was away has an older pair than the store. */
  async #bringName(name: string, local: readonly LocalPair[], stored: readonly StoredCertificate[]): Promise<void> {
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
    const { stateDir, vault } = this.#parts
    const keyPem = await vault.read(keyNameOf(fingerprint))
    if (keyPem === undefined) return
    const folder = await makePrivateFolder(stateDir, 'acme', 'shared')
    await installPair(stateDir, { folder, key: '' }, name, { certificatePem, keyPem })
  }
}

async function localPairs(stateDir: string): Promise<readonly LocalPair[]> {
  const folder = issuedFolder(stateDir)
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(names.map((name) => localPair(join(folder, name), name)))
  const pairs = found.filter((pair) => pair !== undefined)
  const live = new Map(pairs.filter(({ isPrevious }) => !isPrevious).map((pair) => [digest(pair.firstName), pair]))
  // The folder of a former pair has only the digest of its name.
  return pairs.map((pair) =>
    pair.isPrevious ? { ...pair, firstName: live.get(pair.firstName)?.firstName ?? pair.firstName } : pair,
  )
}

/** Undefined for what is not a complete pair. */
async function localPair(folder: string, name: string): Promise<LocalPair | undefined> {
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
