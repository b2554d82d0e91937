import { X509Certificate } from 'node:crypto'
import type { CoveringCertificate, InstalledCertificate } from '../contract.ts'
import type { CheckedFile } from './inventory-findings.ts'
import { isPreviousPair } from './issued-files.ts'
import { coveringName } from './pair.ts'
import { type FileStamp, UnusablePemFile } from './pem-file.ts'

export type ReadFile = FileStamp & CheckedFile

interface Pair extends InstalledCertificate {
  /** The certificate in DER. Parsed when it is needed: 10,000 parsed certificates take 300 MB. */
  readonly der: Buffer
}

interface Group {
  readonly files: ReadonlyMap<string, ReadFile>
  readonly pairs: readonly Pair[]
}

/** Certificates with their keys, by name and by fingerprint: neither a lookup nor a new group depends on how many there are. */
export class PairIndex {
  readonly #groups = new Map<string, Group>()
  readonly #named = new Map<string, Set<Pair>>()
  readonly #known = new Map<string, Set<Pair>>()

  /** Replaces a group of files: a certificate and its key are found in the same group only. Without files there is no group. */
  replace(name: string, files: readonly ReadFile[], isIssued: boolean): void {
    for (const each of this.#groups.get(name)?.pairs ?? []) {
      for (const key of keysOf(each)) take(this.#named, key, each)
      take(this.#known, each.fingerprint, each)
    }
    if (files.length === 0) return void this.#groups.delete(name)
    const pairs = pairsIn(files, isIssued)
    for (const each of pairs) {
      for (const key of keysOf(each)) put(this.#named, key, each)
      put(this.#known, each.fingerprint, each)
    }
    this.#groups.set(name, { files: new Map(files.map((file) => [file.path, file])), pairs })
  }

  get groups(): readonly string[] {
    return [...this.#groups.keys()]
  }

  filesOf(group: string): ReadonlyMap<string, ReadFile> {
    return this.#groups.get(group)?.files ?? new Map()
  }

  get files(): readonly ReadFile[] {
    return [...this.#groups.values()].flatMap(({ files }) => [...files.values()])
  }

  /** Each certificate once. */
  get pairs(): readonly InstalledCertificate[] {
    return [...this.#known.values()].flatMap((same) => preferred(same) ?? [])
  }

  withFingerprint(fingerprint: string): InstalledCertificate | undefined {
    return preferred(this.#known.get(fingerprint) ?? new Set())
  }

  /** By kind of name (exact or wildcard), then by the latest expiry, then the current pair before the previous one. */
  best(host: string, now: number, wildcardFirst: boolean): CoveringCertificate | undefined {
    const wildcard = `*${host.slice(host.indexOf('.'))}`
    const candidates = new Set([host, wildcard, NAMELESS].flatMap((name) => [...(this.#named.get(name) ?? [])]))
    const covering = [...candidates].flatMap((candidate) => {
      if (now < candidate.notBefore.getTime() || candidate.notAfter.getTime() < now) return []
      const name = coveringName(new X509Certificate(candidate.der), host)
      return name ? [{ ...withoutDer(candidate), byWildcard: name.startsWith('*.') }] : []
    })
    const rank = ({ byWildcard }: CoveringCertificate): number => Number(byWildcard !== wildcardFirst)
    const age = ({ certificateFile }: CoveringCertificate): number => Number(isPreviousPair(certificateFile))
    return covering.toSorted(
      (a, b) =>
        rank(a) - rank(b) || b.notAfter.getTime() - a.notAfter.getTime() || age(a) - age(b) || issuedFirst(a, b),
    )[0]
  }
}

/** Pairs without readable names are under this one. */
const NAMELESS = ''

const keysOf = ({ names }: Pair): readonly string[] => (names.length > 0 ? names : [NAMELESS])

function put(index: Map<string, Set<Pair>>, key: string, pair: Pair): void {
  index.set(key, (index.get(key) ?? new Set()).add(pair))
}

function take(index: Map<string, Set<Pair>>, key: string, pair: Pair): void {
  const same = index.get(key)
  same?.delete(pair)
  if (same?.size === 0) index.delete(key)
}

const issuedFirst = (a: InstalledCertificate, b: InstalledCertificate): number => Number(b.issued) - Number(a.issued)

function preferred(same: ReadonlySet<Pair>): InstalledCertificate | undefined {
  const [first] = [...same].sort(issuedFirst)
  return first && withoutDer(first)
}

/** Every leaf certificate whose key is in one of the files. Of several files with the same leaf, the one with the longest chain. */
function pairsIn(files: readonly ReadFile[], issued: boolean): Pair[] {
  const usable = files.flatMap(({ path, content }) => (content instanceof UnusablePemFile ? [] : [{ path, content }]))
  const keyFiles = new Map(usable.flatMap(({ path, content }) => content.keyDigests.map((digest) => [digest, path])))
  const byChain = usable.toSorted((a, b) => b.content.chainLength - a.content.chainLength)
  const pairs = new Map<string, Pair>()
  for (const { path, content } of byChain) {
    const keyFile = content.leaf && keyFiles.get(content.leaf.keyDigest)
    if (!content.leaf || !keyFile || pairs.has(content.leaf.fingerprint) || !content.leaf.isForServers) continue
    const { keyDigest: _, isForServers: __, ...leaf } = content.leaf
    pairs.set(leaf.fingerprint, { ...leaf, certificateFile: path, keyFile, issued })
  }
  return [...pairs.values()]
}

const withoutDer = ({ der: _, ...certificate }: Pair): InstalledCertificate => certificate
