import type { X509Certificate } from 'node:crypto'
import { Slices } from '../../primitives/slices.ts'
import type { CertificateInventory, CoveringCertificate, InstalledCertificate } from '../contract.ts'
import { type CheckedFile, findingsIn, isChainSound } from './inventory-findings.ts'
import { isPreviousPair } from './issued-files.ts'
import { coveringName, describeLeaf } from './pair.ts'
import { type FileStamp, listFiles, publicKeyDigest, readPemFile, UnusablePemFile } from './pem-file.ts'

/** How long thousands of hosts may be gone through before other work gets the event loop. */
const SLICE_MS = 10
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'

type ReadFile = FileStamp & CheckedFile

interface Pair extends InstalledCertificate {
  readonly x509: X509Certificate
}

interface InventoryOptions {
  /** The folder of the certificates that Drawbridge issued. */
  readonly issued?: string
  /** Whether a wildcard certificate has priority over a certificate for the host's own name. */
  readonly prefersWildcard?: (host: string) => boolean
}

/** Lists the folders at every call, but reads only the files that changed. */
export function certificateInventory(folders: readonly string[], options: InventoryOptions = {}): CertificateInventory {
  const { issued, prefersWildcard = () => false } = options
  const all = issued === undefined ? folders : [issued, ...folders]
  let files: ReadonlyMap<string, ReadFile> = new Map()
  let pairs: readonly Pair[] = []
  let named: ReadonlyMap<string, readonly Pair[]> = new Map()
  let underWay: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    const listed = (await Promise.all(all.map(listFiles))).flat()
    const unchanged = listed.length === files.size && listed.every((file) => files.get(file.path)?.stamp === file.stamp)
    if (unchanged) return
    const read = await Promise.all(listed.map((file) => reuseOrRead(file, files.get(file.path))))
    files = new Map(read.map((file) => [file.path, file]))
    pairs = pair(read, (path) => issued !== undefined && path.startsWith(`${issued}/`))
    named = byName(pairs)
  }
  const upToDate = async (): Promise<void> => {
    underWay ??= refresh().finally(() => {
      underWay = undefined
    })
    await underWay
  }
  const bestFor = (host: string, now: number) => best(candidates(named, host), host, now, prefersWildcard(host))
  return {
    async covering(host, now) {
      await upToDate()
      return bestFor(host, now)
    },
    async coveringEach(hosts, now) {
      await upToDate()
      const slices = new Slices(SLICE_MS)
      const covering = new Map<string, CoveringCertificate>()
      for (const host of hosts) {
        const found = bestFor(host, now)
        if (found) covering.set(host, found)
        if (slices.isOver) await slices.next()
      }
      return covering
    },
    async withFingerprint(fingerprint) {
      await upToDate()
      const found = pairs.find((candidate) => candidate.fingerprint === fingerprint)
      return found && withoutX509(found)
    },
    async findings(now) {
      await upToDate()
      return findingsIn([...files.values()], pairs, now)
    },
  }
}

async function reuseOrRead(file: FileStamp, before: ReadFile | undefined): Promise<ReadFile> {
  if (before?.stamp === file.stamp) return before
  const content = await readPemFile(file.path).catch((error: unknown) => {
    if (error instanceof UnusablePemFile) return error
    throw error
  })
  return content instanceof UnusablePemFile
    ? { ...file, content, isChainSound: false }
    : { ...file, content, isChainSound: isChainSound(content) }
}

/** Every leaf certificate whose key is in one of the files. Of several files with the same leaf, the one with the longest chain. */
function pair(files: readonly ReadFile[], isIssued: (path: string) => boolean): Pair[] {
  const usable = files.flatMap(({ path, content }) => (content instanceof UnusablePemFile ? [] : [{ path, content }]))
  const keyFiles = new Map(usable.flatMap(({ path, content }) => content.keyDigests.map((digest) => [digest, path])))
  const byChain = usable.toSorted((a, b) => b.content.certificates.length - a.content.certificates.length)
  const pairs = new Map<string, Pair>()
  for (const { path, content } of byChain) {
    const x509 = content.certificates[0]
    const keyFile = x509 && keyFiles.get(publicKeyDigest(x509.publicKey))
    if (!x509 || !keyFile || pairs.has(x509.fingerprint256) || !isForServers(x509)) continue
    const place = { certificateFile: path, keyFile, issued: isIssued(path) }
    pairs.set(x509.fingerprint256, { x509, ...describeLeaf(x509), ...place })
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

const isForServers = ({ keyUsage }: X509Certificate): boolean => keyUsage?.includes(SERVER_AUTHENTICATION) ?? true

/** By kind of name (exact or wildcard), then by the latest expiry, then the current pair before the previous one. */
function best(
  pairs: readonly Pair[],
  host: string,
  now: number,
  wildcardFirst: boolean,
): CoveringCertificate | undefined {
  const covering = pairs.flatMap((candidate) => {
    const name = coveringName(candidate.x509, host)
    const inTime = candidate.notBefore.getTime() <= now && now <= candidate.notAfter.getTime()
    return name && inTime ? [{ ...withoutX509(candidate), byWildcard: name.startsWith('*.') }] : []
  })
  const rank = ({ byWildcard }: CoveringCertificate): number => Number(byWildcard !== wildcardFirst)
  const age = ({ certificateFile }: CoveringCertificate): number => Number(isPreviousPair(certificateFile))
  return covering.toSorted(
    (a, b) => rank(a) - rank(b) || b.notAfter.getTime() - a.notAfter.getTime() || age(a) - age(b),
  )[0]
}

const withoutX509 = ({ x509: _, ...certificate }: Pair): InstalledCertificate => certificate
