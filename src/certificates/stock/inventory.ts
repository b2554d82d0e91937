import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../primitives/clock.ts'
import { sharedNextRun } from '../../primitives/shared-run.ts'
import { Slices } from '../../primitives/slices.ts'
import type {
  CertificateFinding,
  CertificateInventory,
  CoveringCertificate,
  InstalledCertificate,
} from '../contract.ts'
import { type CheckedFile, findingsIn, isChainSound, type Leaf, tooMany } from './inventory-findings.ts'
import { isPreviousPair } from './issued-files.ts'
import { IssuedListing } from './issued-listing.ts'
import { coveringName, describeLeaf } from './pair.ts'
import {
  type FileStamp,
  listFiles,
  type PemFile,
  publicKeyDigest,
  readPemFile,
  stampOf,
  UnusablePemFile,
} from './pem-file.ts'

/** How long one slice of work may block the event loop. */
const SLICE_MS = 10
const READ_AT_ONCE = 32
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'

type ReadFile = FileStamp & CheckedFile

interface Pair extends InstalledCertificate {
  /** The certificate in DER. Parsed when it is needed: 10,000 parsed certificates take 300 MB. */
  readonly der: Buffer
}

interface InventoryOptions {
  /** The folder of the certificates that Drawbridge issued. */
  readonly issued?: string
  /**
   * Changes whenever a certificate is issued. With it, a search for one host lists the folder of issued certificates only after a
   * change: listing 10,000 names takes seconds.
   */
  readonly issuedVersion?: () => Promise<string>
  /** Whether a wildcard certificate has priority over a certificate for the host's own name. */
  readonly prefersWildcard?: (host: string) => boolean
  /**
   * How many files of each other folder are read. A folder with more files is reported, because it is not a folder of certificates.
   */
  readonly mostFiles?: number
  /** Default: that of the machine. */
  readonly clock?: Clock
}

const MOST_FILES = 10_000

/** Lists the folders at every call, but that of issued certificates as `issuedVersion` says. Reads only the files that changed. */
export function certificateInventory(folders: readonly string[], options: InventoryOptions = {}): CertificateInventory {
  const { issued, issuedVersion, mostFiles = MOST_FILES, prefersWildcard = () => false } = options
  const issuedFiles = issued === undefined ? undefined : new IssuedListing(issued, issuedVersion)
  let cut: readonly CertificateFinding[] = []
  let files: ReadonlyMap<string, ReadFile> = new Map()
  let pairs: readonly Pair[] = []
  let named: ReadonlyMap<string, readonly Pair[]> = new Map()

  // A call during a listing gets the next listing: this one may have missed a recent change.
  const upToDate = sharedNextRun(async (): Promise<void> => {
    const listings = await Promise.all([
      ...(issuedFiles ? [issuedFiles.list()] : []),
      ...folders.map((folder) => listFiles(folder, mostFiles)),
    ])
    const listed = listings.flatMap((listing) => listing.files)
    cut = listings.flatMap(tooMany)
    const unchanged = listed.length === files.size && listed.every((file) => files.get(file.path)?.stamp === file.stamp)
    if (unchanged) return
    const read: ReadFile[] = []
    // In batches: parsing thousands of files at once would block for seconds.
    for (let at = 0; at < listed.length; at += READ_AT_ONCE) {
      const some = listed.slice(at, at + READ_AT_ONCE)
      read.push(...(await Promise.all(some.map((file) => reuseOrRead(file, files.get(file.path))))))
    }
    files = new Map(read.map((file) => [file.path, file]))
    pairs = pair(read, (path) => issued !== undefined && path.startsWith(`${issued}/`))
    named = byName(pairs)
  })
  const anew = (): Promise<void> => {
    issuedFiles?.forget()
    return upToDate()
  }
  /** The result of `find`, from a new listing if the files of the found pair have changed since they were read. */
  const found = async <T extends InstalledCertificate>(find: () => T | undefined): Promise<T | undefined> => {
    await upToDate()
    const first = find()
    if (!first?.issued || (await areUnchanged(files, [first.certificateFile, first.keyFile]))) return first
    await anew()
    return find()
  }
  const bestFor = (host: string, now: number) => best(candidates(named, host), host, now, prefersWildcard(host))
  return {
    covering: (host, now) => found(() => bestFor(host, now)),
    async coveringEach(hosts, now) {
      await anew()
      const slices = new Slices(SLICE_MS, options.clock)
      const covering = new Map<string, CoveringCertificate>()
      for (const host of hosts) {
        const found = bestFor(host, now)
        if (found) covering.set(host, found)
        if (slices.isOver) await slices.next()
      }
      return covering
    },
    withFingerprint: (fingerprint) =>
      found(() => {
        const known = pairs.find((candidate) => candidate.fingerprint === fingerprint)
        return known && withoutDer(known)
      }),
    async findings(now) {
      await anew()
      return [...cut, ...findingsIn([...files.values()], pairs, now)]
    },
  }
}

const areUnchanged = async (files: ReadonlyMap<string, FileStamp>, paths: readonly string[]): Promise<boolean> => {
  const stamps = await Promise.all(paths.map(stampOf))
  return stamps.every((stamp, at) => stamp !== undefined && files.get(paths[at] ?? '')?.stamp === stamp)
}

async function reuseOrRead(file: FileStamp, before: ReadFile | undefined): Promise<ReadFile> {
  if (before?.stamp === file.stamp) return before
  const content = await readPemFile(file.path).catch((error: unknown) => {
    if (error instanceof UnusablePemFile) return error
    throw error
  })
  return { ...file, content: content instanceof UnusablePemFile ? content : summaryOf(content) }
}

/** The part of a file that is kept. Parsed certificates are dropped. */
function summaryOf({ certificates, keyDigests }: PemFile): Exclude<CheckedFile['content'], UnusablePemFile> {
  const [leaf] = certificates
  return {
    leaf: leaf && leafOf(leaf),
    chainLength: certificates.length,
    keyDigests,
    isChainSound: isChainSound(certificates),
  }
}

const leafOf = (x509: X509Certificate): Leaf => ({
  ...describeLeaf(x509),
  der: x509.raw,
  keyDigest: publicKeyDigest(x509.publicKey),
  isForServers: x509.keyUsage?.includes(SERVER_AUTHENTICATION) ?? true,
})

/** Every leaf certificate whose key is in one of the files. Of several files with the same leaf, the one with the longest chain. */
function pair(files: readonly ReadFile[], isIssued: (path: string) => boolean): Pair[] {
  const usable = files.flatMap(({ path, content }) => (content instanceof UnusablePemFile ? [] : [{ path, content }]))
  const keyFiles = new Map(usable.flatMap(({ path, content }) => content.keyDigests.map((digest) => [digest, path])))
  const byChain = usable.toSorted((a, b) => b.content.chainLength - a.content.chainLength)
  const pairs = new Map<string, Pair>()
  for (const { path, content } of byChain) {
    const keyFile = content.leaf && keyFiles.get(content.leaf.keyDigest)
    if (!content.leaf || !keyFile || pairs.has(content.leaf.fingerprint) || !content.leaf.isForServers) continue
    const { keyDigest: _, isForServers: __, ...leaf } = content.leaf
    pairs.set(leaf.fingerprint, { ...leaf, certificateFile: path, keyFile, issued: isIssued(path) })
  }
  return [...pairs.values()]
}

/** An index, so that a lookup does not depend on the number of pairs. Pairs without readable names are under NAMELESS. */
function byName(pairs: readonly Pair[]): Map<string, Pair[]> {
  const named = new Map<string, Pair[]>()
  for (const each of pairs) {
    for (const name of each.names.length > 0 ? each.names : [NAMELESS])
      named.set(name, [...(named.get(name) ?? []), each])
  }
  return named
}

const NAMELESS = ''

function candidates(named: ReadonlyMap<string, readonly Pair[]>, host: string): Pair[] {
  const wildcard = `*${host.slice(host.indexOf('.'))}`
  return [...new Set([host, wildcard, NAMELESS].flatMap((name) => named.get(name) ?? []))]
}

/** By kind of name (exact or wildcard), then by the latest expiry, then the current pair before the previous one. */
function best(
  pairs: readonly Pair[],
  host: string,
  now: number,
  wildcardFirst: boolean,
): CoveringCertificate | undefined {
  const covering = pairs.flatMap((candidate) => {
    if (now < candidate.notBefore.getTime() || candidate.notAfter.getTime() < now) return []
    const name = coveringName(new X509Certificate(candidate.der), host)
    return name ? [{ ...withoutDer(candidate), byWildcard: name.startsWith('*.') }] : []
  })
  const rank = ({ byWildcard }: CoveringCertificate): number => Number(byWildcard !== wildcardFirst)
  const age = ({ certificateFile }: CoveringCertificate): number => Number(isPreviousPair(certificateFile))
  return covering.toSorted(
    (a, b) => rank(a) - rank(b) || b.notAfter.getTime() - a.notAfter.getTime() || age(a) - age(b),
  )[0]
}

const withoutDer = ({ der: _, ...certificate }: Pair): InstalledCertificate => certificate
