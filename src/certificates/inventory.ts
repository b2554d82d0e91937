import type { X509Certificate } from 'node:crypto'
import type { CertificateInventory, CoveringCertificate, InstalledCertificate, PassedOver } from './contract.ts'
import { coveringName, describeLeaf } from './leaf.ts'
import { type PemFile, publicKeyDigest, readPemFile, UnusablePemFile } from './pem-file.ts'
import { type FileStamp, listFiles } from './pem-folder.ts'

const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'

interface ReadFile extends FileStamp {
  readonly content: PemFile | UnusablePemFile
}

interface Pair extends InstalledCertificate {
  readonly x509: X509Certificate
}

/** Reads the folders anew at every question, but only the files that changed since. */
export function certificateInventory(folders: readonly string[]): CertificateInventory {
  let files: ReadonlyMap<string, ReadFile> = new Map()
  let pairs: readonly Pair[] = []
  let underWay: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    const listed = (await Promise.all(folders.map(listFiles))).flat()
    const unchanged = listed.length === files.size && listed.every((file) => files.get(file.path)?.stamp === file.stamp)
    if (unchanged) return
    const read = await Promise.all(listed.map((file) => reuseOrRead(file, files.get(file.path))))
    files = new Map(read.map((file) => [file.path, file]))
    pairs = pair(read)
  }
  const upToDate = async (): Promise<void> => {
    underWay ??= refresh().finally(() => {
      underWay = undefined
    })
    await underWay
  }
  return {
    async covering(host, now) {
      await upToDate()
      return best(pairs, host, now)
    },
    async passedOver() {
      await upToDate()
      return [...files.values()].flatMap(reasonPassedOver)
    },
  }
}

async function reuseOrRead(file: FileStamp, before: ReadFile | undefined): Promise<ReadFile> {
  if (before?.stamp === file.stamp) return before
  const content = await readPemFile(file.path).catch((error: unknown) => {
    if (error instanceof UnusablePemFile) return error
    throw error
  })
  return { ...file, content }
}

function reasonPassedOver({ path, content }: ReadFile): PassedOver[] {
  return content instanceof UnusablePemFile ? [{ path, sentence: `The file ${content.message}.` }] : []
}

/** Every leaf with a key in any of the files, each once: in the file that holds the longest chain. */
function pair(files: readonly ReadFile[]): Pair[] {
  const usable = files.flatMap(({ path, content }) => (content instanceof UnusablePemFile ? [] : [{ path, content }]))
  const keyFiles = new Map(usable.flatMap(({ path, content }) => content.keyDigests.map((digest) => [digest, path])))
  const byChain = usable.toSorted((a, b) => b.content.certificates.length - a.content.certificates.length)
  const pairs = new Map<string, Pair>()
  for (const { path, content } of byChain) {
    const x509 = content.certificates[0]
    const keyFile = x509 && keyFiles.get(publicKeyDigest(x509.publicKey))
    if (!x509 || !keyFile || pairs.has(x509.fingerprint256) || !isForServers(x509)) continue
    pairs.set(x509.fingerprint256, { x509, ...describeLeaf(x509), certificateFile: path, keyFile })
  }
  return [...pairs.values()]
}

const isForServers = ({ keyUsage }: X509Certificate): boolean => keyUsage?.includes(SERVER_AUTHENTICATION) ?? true

/** An exact name before a wildcard, then whichever lasts longest. */
function best(pairs: readonly Pair[], host: string, now: number): CoveringCertificate | undefined {
  const covering = pairs.flatMap(({ x509, ...certificate }) => {
    const name = coveringName(x509, host)
    const inTime = certificate.notBefore.getTime() <= now && now <= certificate.notAfter.getTime()
    return name && inTime ? [{ ...certificate, byWildcard: name.startsWith('*.') }] : []
  })
  return covering.toSorted(
    (a, b) => Number(a.byWildcard) - Number(b.byWildcard) || b.notAfter.getTime() - a.notAfter.getTime(),
  )[0]
}
