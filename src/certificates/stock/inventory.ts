import type { X509Certificate } from 'node:crypto'
import { dirname } from 'node:path'
import type { Clock } from '../../primitives/clock.ts'
import { sharedNextRun } from '../../primitives/shared-run.ts'
import { Slices } from '../../primitives/slices.ts'
import type {
  CertificateFinding,
  CertificateInventory,
  CoveringCertificate,
  InstalledCertificate,
} from '../contract.ts'
import type { InstalledNames } from './installed-names.ts'
import { type CheckedFile, findingsIn, isChainSound, type Leaf, tooMany } from './inventory-findings.ts'
import { foldersOfName, foldersOfPair, isPreviousFolder } from './issued-files.ts'
import { describeLeaf } from './pair.ts'
import { PairIndex, type ReadFile } from './pair-index.ts'
import {
  type FileStamp,
  listFiles,
  type PemFile,
  publicKeyDigest,
  readPemFile,
  stampOf,
  UnusablePemFile,
} from './pem-file.ts'

const READ_AT_ONCE = 32
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'

interface InventoryOptions {
  /** The folder of the certificates that Drawbridge issued. */
  readonly issued?: string
  /**
   * The names whose pairs were issued since. With it, a search for one host reads the folders of these only: listing those of 10,000
   * names takes seconds. Without it, every call lists the folder.
   */
  readonly installed?: InstalledNames
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

/** Lists the folders at every call, but that of issued certificates as `installed` says. Reads only the files that changed. */
export function certificateInventory(folders: readonly string[], options: InventoryOptions = {}): CertificateInventory {
  const { issued, installed, mostFiles = MOST_FILES, prefersWildcard = () => false } = options
  const index = new PairIndex()
  let cut: readonly CertificateFinding[] = []
  let isWhole = true
  let stale: readonly string[] = []

  // A call during a listing gets the next listing: this one may have missed a recent change.
  const upToDate = sharedNextRun(async (): Promise<void> => {
    const [whole, again] = [isWhole || installed === undefined, stale]
    const names = [...(installed?.take() ?? [])]
    isWhole = false
    stale = []
    try {
      const placed = await Promise.all(folders.map((folder) => listFiles(folder, mostFiles)))
      cut = placed.flatMap(tooMany)
      const groups = new Map<string, readonly FileStamp[]>([[PLACED, placed.flatMap(({ files }) => files)]])
      if (issued !== undefined && whole) await addWhole(groups, issued)
      else if (issued !== undefined)
        for (const folder of [...again, ...names.flatMap((name) => foldersOfName(issued, name))])
          groups.set(folder, (await listFiles(folder)).files)
      await bring(index, groups, new Slices(options.clock))
    } catch (error) {
      isWhole = true
      throw error
    }
  })
  /** Adds the files of the folder by their own folders, and those that have none any more. */
  const addWhole = async (groups: Map<string, readonly FileStamp[]>, folder: string): Promise<void> => {
    for (const group of index.groups) if (!groups.has(group)) groups.set(group, [])
    const { files } = await listFiles(folder)
    for (const [group, listed] of Map.groupBy(files, ({ path }) => dirname(path))) groups.set(group, listed)
  }
  const anew = (): Promise<void> => {
    isWhole = true
    return upToDate()
  }
  /** The result of `find`, from a new reading if the files of the found pair have changed since they were read. */
  const found = async <T extends InstalledCertificate>(find: () => T | undefined): Promise<T | undefined> => {
    await upToDate()
    const first = find()
    if (!first?.issued || issued === undefined || (await isUnchanged(index, first))) return first
    stale = [...stale, ...foldersOfPair(issued, first.certificateFile)]
    await upToDate()
    return find()
  }
  const bestFor = (host: string, now: number) => index.best(host, now, prefersWildcard(host))
  return {
    covering: (host, now) => found(() => bestFor(host, now)),
    async coveringEach(hosts, now) {
      await anew()
      const slices = new Slices(options.clock)
      const covering = new Map<string, CoveringCertificate>()
      for (const host of hosts) {
        const found = bestFor(host, now)
        if (found) covering.set(host, found)
        if (slices.isOver) await slices.next()
      }
      return covering
    },
    withFingerprint: (fingerprint) => found(() => index.withFingerprint(fingerprint)),
    async findings(now) {
      await anew()
      return [...cut, ...findingsIn(index.files, index.pairs, now)]
    },
  }
}

/** The group of the folders of an administrator: a key may lie in another one than its certificate. No folder has this name. */
const PLACED = ''

const isUnchanged = async (index: PairIndex, { certificateFile, keyFile }: InstalledCertificate): Promise<boolean> => {
  const known = index.filesOf(dirname(certificateFile))
  const paths = [certificateFile, keyFile]
  const stamps = await Promise.all(paths.map(stampOf))
  return stamps.every((stamp, at) => stamp !== undefined && known.get(paths[at] ?? '')?.stamp === stamp)
}

/**
 * Reads what has changed in these groups. In batches: parsing thousands of files at once would block for seconds. Former pairs first: one
 * that has moved is always in one of its two folders.
 */
async function bring(
  index: PairIndex,
  groups: ReadonlyMap<string, readonly FileStamp[]>,
  slices: Slices,
): Promise<void> {
  const changed = [...groups]
    .filter(([group, listed]) => isChanged(index.filesOf(group), listed))
    .toSorted(([a], [b]) => Number(isPreviousFolder(b)) - Number(isPreviousFolder(a)))
  const wanted = changed.flatMap(([group, listed]) => listed.map((file) => ({ file, known: index.filesOf(group) })))
  const read = new Map<string, ReadFile>()
  for (let at = 0; at < wanted.length; at += READ_AT_ONCE) {
    const some = wanted.slice(at, at + READ_AT_ONCE)
    for (const file of await Promise.all(some.map(({ file, known }) => reuseOrRead(file, known.get(file.path)))))
      read.set(file.path, file)
  }
  for (const [group, listed] of changed) {
    const files = listed.flatMap(({ path }) => read.get(path) ?? [])
    index.replace(group, files, group !== PLACED)
    if (slices.isOver) await slices.next()
  }
}

const isChanged = (known: ReadonlyMap<string, FileStamp>, listed: readonly FileStamp[]): boolean =>
  listed.length !== known.size || listed.some(({ path, stamp }) => known.get(path)?.stamp !== stamp)

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
