import { CERTIFICATE_KINDS } from '../config/gathered.ts'
import { hostEntry, isSecret, MAX_PARTS, type PemKind, parsePath, pemFile } from '../config/layout.ts'
import { idInEntry, pemInPart } from '../config/render-certificate.ts'
import type { EdgeFile } from '../contract.ts'

/** What stands on an edge, as far as certificates are concerned. */
interface Standing {
  /** The content of a file; null if it is not there. */
  content(path: string): string | null
  /** All hosts that have a certificate. */
  secureHosts(): Iterable<string>
  /** The ids of all pairs. */
  pairIds(): Iterable<string>
  /** The ids that the entries of hosts name. */
  pairsInUse(): Iterable<string>
}

/** The removal of all files of the host's current certificate; empty when the host has none. */
export function certificateRemovals(standing: Standing, host: string): EdgeFile[] {
  const id = idInEntry(standing.content(hostEntry(host)) ?? '')
  return id === undefined ? [] : removalsOf(standing, id)
}

const removalsOf = (standing: Standing, id: string): EdgeFile[] =>
  filesOfPair(id)
    .filter((path) => standing.content(path) !== null)
    .map((path) => ({ path, content: null, secret: isSecret(path) }))

const filesOfPair = (id: string): string[] => CERTIFICATE_KINDS.flatMap((kind) => partsOf(kind, id))

const partsOf = (kind: PemKind, id: string): string[] =>
  Array.from({ length: MAX_PARTS[kind] }, (_, index) => pemFile(kind, id, index + 1))

/** The pair that a host's entry names, read from the edge's own copy. Undefined when the host has none. */
export function pairInUse(
  standing: Standing,
  host: string,
): { readonly certificatePem: string; readonly keyPem: string } | undefined {
  const id = idInEntry(standing.content(hostEntry(host)) ?? '')
  if (id === undefined) return undefined
  const pem = (kind: PemKind) =>
    partsOf(kind, id)
      .map((path) => pemInPart(standing.content(path) ?? ''))
      .join('')
  const [certificatePem, keyPem] = [pem('certificate'), pem('key')]
  return certificatePem === '' || keyPem === '' ? undefined : { certificatePem, keyPem }
}

/** Leaves out the removal of every certificate that a host still uses after the change. */
export function keepUsedCertificates(standing: Standing, files: readonly EdgeFile[]): EdgeFile[] {
  const going = files.filter(({ path, content }) => content === null && parsePath(path).kind === 'certificate')
  if (going.length === 0) return [...files]
  const used = usedOf(standing, files, new Set(going.map(idOf)))
  return files.filter((file) => !going.includes(file) || !used.has(idOf(file)))
}

/** The removal of every pair that no host uses. */
export function unusedCertificates(standing: Standing): EdgeFile[] {
  const used = new Set(standing.pairsInUse())
  const unused = new Set([...standing.pairIds()].filter((id) => !used.has(id)))
  return [...unused].flatMap((id) => removalsOf(standing, id))
}

/** Those of the ids that a host uses after the change. */
function usedOf(standing: Standing, files: readonly EdgeFile[], ids: ReadonlySet<string>): Set<string> {
  const used = new Set<string>()
  const note = (entry: string | null) => {
    const id = idInEntry(entry ?? '')
    if (id !== undefined && ids.has(id)) used.add(id)
  }
  const changed = new Map(files.map(({ path, content }) => [path, content]))
  for (const [path, content] of changed) if (parsePath(path).kind === 'certificate entry') note(content)
  for (const host of standing.secureHosts()) {
    if (used.size === ids.size) break
    const path = hostEntry(host)
    if (!changed.has(path)) note(standing.content(path))
  }
  return used
}

function idOf({ path }: EdgeFile): string {
  const parsed = parsePath(path)
  return parsed.kind === 'certificate' ? parsed.id : ''
}
