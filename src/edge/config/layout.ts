import { join } from 'node:path'
import { parseName } from '../../model/dns-name.ts'
import { isPlanId } from '../../model/exposure.ts'

// The layout of an edge's folder. Drawbridge reads and writes only these paths there.
export const BASE_FILE = 'drawbridge.conf'
/** Drafts of files and test configurations. The dot keeps the folder out of every include. */
export const STAGING = '.staging'
/**
 * The fences of all hosts. The dot keeps the file out of every include. `parsePath` refuses it, so no change, journal or
 * backup can name it: it must outlive an undo and a restore.
 */
export const FENCES = '.fences'
/** What an agent has written beside the folder and may undo. The dot keeps the file out of every include. */
export const OUTSIDE_NOTES = '.outside'
/** Locked by whoever changes the edge. The dot keeps the file out of every include. */
export const LOCK = '.engine-lock'
/** Locked by whoever writes fences, together, and by whoever writes their file anew, alone. */
export const FENCES_LOCK = '.fences-lock'
/** The test copy of the administrator's main file has this name and a random suffix, in the same folder. */
export const SHADOW_PREFIX = '.drawbridge-shadow-'

/** The generations, each a folder with its number as the name. */
export const GENERATIONS = 'generations'
/** A link to the folder of the present generation, for people. */
export const CURRENT = 'current'

/** Parents before their subfolders, each with its mode. */
export const FOLDERS: readonly { readonly path: string; readonly mode: number }[] = [
  { path: '', mode: 0o755 },
  { path: GENERATIONS, mode: 0o755 },
  { path: STAGING, mode: 0o700 },
]

/** Whether a file that nginx reads is one of ours. Somebody may have put a file of his own into our folder. */
export const isWrittenByUs = (folder: string, path: string): boolean =>
  [BASE_FILE, `${GENERATIONS}/`, `${CURRENT}/`].some((name) => path.startsWith(`${folder}/${name}`))

export type PemKind = 'certificate' | 'key'

/** One value in nginx's configuration has at most 4,096 characters. A longer chain is split into several parts. */
export const MAX_PARTS: Readonly<Record<PemKind, number>> = { certificate: 4, key: 2 }

/** A file name has at most 255 bytes, the ending included. */
const MAX_HOST_LENGTH = 250

// Every host has files by name: one with its entry, and one that names its certificate. They are not files on disk: a generation
// gathers them, see gathered.ts. An entry is written as lines or as server blocks of its own; the first layout had a file for each.
export const linesFile = (host: string): string => `entries/${host}`
export const blockFile = (host: string): string => `hosts/${host}.conf`
/** Files of hosts that are not managed any more. They lie beside the edge's folder and are not ours to change. */
const RELEASED = 'released/'
export const releasedFile = (host: string, ending: 'conf' | 'crt' | 'key'): string => `${RELEASED}${host}.${ending}`
export const releasedFolder = (folder: string): string => `${folder}-released`
export const releasedPlace = (folder: string, path: string): string =>
  `${releasedFolder(folder)}/${path.slice(RELEASED.length)}`
export const isReleased = (path: string): boolean => path.startsWith(RELEASED)

/** The record of a hand-written site that a plan has taken out of its files. It lies beside the edge's folder, with the files as they were. */
const ADOPTED = 'adopted/'
export const adoptedFile = (planId: string): string => `${ADOPTED}${planId}`
/** Holds a folder for each adopted site. */
export const adoptedFolder = (folder: string): string => `${folder}-adopted`
export const SITE_RECORD = 'record.json'
export const adoptedPlace = (folder: string, path: string): string =>
  `${adoptedFolder(folder)}/${path.slice(ADOPTED.length)}/${SITE_RECORD}`
export const isAdopted = (path: string): boolean => path.startsWith(ADOPTED)
/** Whether a path is none of the generations. */
export const isOutside = (path: string): boolean => isReleased(path) || isAdopted(path)

/** The absolute path of a file of the edge. */
export const placeOf = (folder: string, path: string): string =>
  isReleased(path) ? releasedPlace(folder, path) : isAdopted(path) ? adoptedPlace(folder, path) : join(folder, path)

export const hostEntry = (host: string): string => `tls/hosts/${host}.map`

/** Nearly every PEM text fits into one part. */
export const pemFile = (kind: PemKind, id: string, part: number): string =>
  part === 1 ? `tls/${kind}s/${id}.map` : `tls/more/${id}.${kind}-${part}.map`

export const isHost = (host: string): boolean => parseName(host) === host && host.length <= MAX_HOST_LENGTH

export type Path =
  | { readonly kind: 'base' }
  | { readonly kind: 'lines' | 'block' | 'certificate entry'; readonly host: string }
  | { readonly kind: 'certificate'; readonly id: string; readonly secret: boolean }
  | { readonly kind: 'released'; readonly host: string; readonly secret: boolean }
  | { readonly kind: 'adopted'; readonly planId: string }

/** Throws for a path that is not in this layout: it may come from a journal or a backup. */
export function parsePath(path: string): Path {
  if (path === BASE_FILE) return { kind: 'base' }
  const lines = /^entries\/(.+)$/.exec(path)?.[1]
  if (lines !== undefined && isHost(lines)) return { kind: 'lines', host: lines }
  const block = /^hosts\/(.+)\.conf$/.exec(path)?.[1]
  if (block !== undefined && isHost(block)) return { kind: 'block', host: block }
  const entry = /^tls\/hosts\/(.+)\.map$/.exec(path)?.[1]
  if (entry !== undefined && isHost(entry)) return { kind: 'certificate entry', host: entry }
  const [, released, ending] = /^released\/(.+)\.(conf|crt|key)$/.exec(path) ?? []
  if (released !== undefined && isHost(released)) return { kind: 'released', host: released, secret: ending === 'key' }
  const adopted = /^adopted\/(.+)$/.exec(path)?.[1]
  if (adopted !== undefined && isPlanId(adopted)) return { kind: 'adopted', planId: adopted }
  const pem = /^tls\/(?:(certificate|key)s\/|more\/)([0-9a-f]{32})(?:\.(certificate|key)-[2-4])?\.map$/.exec(path)
  const [, first, id = '', further] = pem ?? []
  if ((first === undefined) !== (further === undefined)) {
    return { kind: 'certificate', id, secret: (first ?? further) === 'key' }
  }
  throw new Error(`${JSON.stringify(path)} is not a path of an edge's file.`)
}

/** Whether a file belongs to a pair, or is the map entry that names a pair. */
export const isCertificateFile = (path: string): boolean =>
  ['certificate', 'certificate entry'].includes(parsePath(path).kind)

export const isSecret = (path: string): boolean => {
  const parsed = parsePath(path)
  return (parsed.kind === 'certificate' || parsed.kind === 'released') && parsed.secret
}
