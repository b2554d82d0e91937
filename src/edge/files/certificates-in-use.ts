import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hostEntry, isSecret, MAX_PARTS, type PemKind, parsePath, pemFile } from '../config/layout.ts'
import { idInEntry, pemInPart } from '../config/render-certificate.ts'
import type { EdgeFile } from '../contract.ts'
import { withEdgeFaults } from './files.ts'

/** The removal of all files of the host's current certificate; empty when the host has none. */
export async function certificateRemovals(folder: string, host: string): Promise<EdgeFile[]> {
  const id = idInEntry(await readFile(join(folder, hostEntry(host)), 'utf8').catch(() => ''))
  if (id === undefined) return []
  const further = new Set(await withEdgeFaults('tls/more', () => readdir(join(folder, 'tls/more'))))
  const kinds: readonly PemKind[] = ['certificate', 'key']
  return kinds.flatMap((kind) =>
    Array.from({ length: MAX_PARTS[kind] }, (_, index) => pemFile(kind, id, index + 1))
      .filter((path, index) => index === 0 || further.has(path.slice('tls/more/'.length)))
      .map((path) => ({ path, content: null, secret: kind === 'key' })),
  )
}

/** The pair that a host's entry names, read from the edge's own copy. Undefined when the host has none. */
export async function pairInUse(
  folder: string,
  host: string,
): Promise<{ readonly certificatePem: string; readonly keyPem: string } | undefined> {
  const id = idInEntry(await readFile(join(folder, hostEntry(host)), 'utf8').catch(() => ''))
  if (id === undefined) return undefined
  const pem = async (kind: PemKind) => {
    const parts = Array.from({ length: MAX_PARTS[kind] }, (_, index) => join(folder, pemFile(kind, id, index + 1)))
    const texts = await Promise.all(parts.map((path) => readFile(path, 'utf8').catch(() => '')))
    return texts.map(pemInPart).join('')
  }
  const [certificatePem, keyPem] = [await pem('certificate'), await pem('key')]
  return certificatePem === '' || keyPem === '' ? undefined : { certificatePem, keyPem }
}

/** Leaves out the removal of every certificate that a host still uses after the change. */
export async function keepUsedCertificates(folder: string, files: readonly EdgeFile[]): Promise<EdgeFile[]> {
  const going = files.filter(({ path, content }) => content === null && parsePath(path).kind === 'certificate')
  if (going.length === 0) return [...files]
  const used = await idsInUse(folder, files)
  return files.filter((file) => !going.includes(file) || !used.has(idOf(file)))
}

/** The removal of every pair that no host uses. */
export async function unusedCertificates(folder: string): Promise<EdgeFile[]> {
  const lists = await Promise.all(
    ['tls/certificates', 'tls/keys', 'tls/more'].map(async (path) =>
      (await withEdgeFaults(path, () => readdir(join(folder, path)))).map((name) => join(path, name)),
    ),
  )
  const pairs = lists.flat().filter(isPemFile)
  return keepUsedCertificates(
    folder,
    pairs.map((path) => ({ path, content: null, secret: isSecret(path) })),
  )
}

/** Other files in these folders were not written by Drawbridge and are never removed. */
function isPemFile(path: string): boolean {
  try {
    return parsePath(path).kind === 'certificate'
  } catch {
    return false
  }
}

async function idsInUse(folder: string, files: readonly EdgeFile[]): Promise<Set<string>> {
  const entries = dirname(hostEntry('*'))
  const names = await withEdgeFaults(entries, () => readdir(join(folder, entries)))
  const changed = new Map(files.map(({ path, content }) => [path, content]))
  const ids = new Set<string>()
  for (const path of new Set([...names.map((name) => join(entries, name)), ...changed.keys()])) {
    if (dirname(path) !== entries) continue
    const entry = changed.has(path) ? changed.get(path) : await readFile(join(folder, path), 'utf8').catch(() => '')
    const id = idInEntry(entry ?? '')
    if (id) ids.add(id)
  }
  return ids
}

function idOf({ path }: EdgeFile): string {
  const parsed = parsePath(path)
  return parsed.kind === 'certificate' ? parsed.id : ''
}
