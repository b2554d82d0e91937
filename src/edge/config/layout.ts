import { parseName } from '../../model/dns-name.ts'

/** What stands where below an edge's folder. Nothing else is ever written there, and nothing else is ever read for us. */
export const BASE_FILE = 'drawbridge.conf'
/** Drafts of files and shadow configurations. The dot keeps it out of every include. */
export const STAGING = '.staging'
/** A shadow of the administrator's main file stands beside it under this name and a random end. */
export const SHADOW_PREFIX = '.drawbridge-shadow-'

/** Ours from the outermost to the innermost, each with its mode. */
export const FOLDERS: readonly { readonly path: string; readonly mode: number }[] = [
  { path: '', mode: 0o755 },
  { path: 'hosts', mode: 0o755 },
  { path: 'tls', mode: 0o700 },
  { path: 'tls/hosts', mode: 0o700 },
  { path: 'tls/certificates', mode: 0o700 },
  { path: 'tls/keys', mode: 0o700 },
  { path: 'tls/more', mode: 0o700 },
  { path: STAGING, mode: 0o700 },
]

export type PemKind = 'certificate' | 'key'

/** nginx takes 4,096 characters at most as one value: a long chain is spread over several. */
export const MAX_PARTS: Readonly<Record<PemKind, number>> = { certificate: 4, key: 2 }

/** No longer than a file name can be. */
const MAX_HOST_LENGTH = 250

export const hostFile = (host: string): string => `hosts/${host}.conf`
export const hostEntry = (host: string): string => `tls/hosts/${host}.map`

/** The first part of nearly every PEM is all of it; the others have a folder of their own, so that nginx lists little. */
export const pemFile = (kind: PemKind, id: string, part: number): string =>
  part === 1 ? `tls/${kind}s/${id}.map` : `tls/more/${id}.${kind}-${part}.map`

/** The files that nginx includes for one part. */
export const pemGlob = (kind: PemKind, part: number): string => pemFile(kind, '*', part)

export const isHost = (host: string): boolean => parseName(host) === host && host.length <= MAX_HOST_LENGTH

/** In the order in which files come; they go in the opposite order. No file ever stands without those it relies on. */
const ORDER = ['certificate', 'host entry', 'host', 'base'] as const

export type Path =
  | { readonly kind: 'base' }
  | { readonly kind: 'host' | 'host entry'; readonly host: string }
  | { readonly kind: 'certificate'; readonly id: string; readonly secret: boolean }

/** What a path is for. Throws for anything that is not a path of ours: it may come from a journal or a backup. */
export function parsePath(path: string): Path {
  if (path === BASE_FILE) return { kind: 'base' }
  const host = /^hosts\/(.+)\.conf$/.exec(path)?.[1]
  if (host !== undefined && isHost(host)) return { kind: 'host', host }
  const entry = /^tls\/hosts\/(.+)\.map$/.exec(path)?.[1]
  if (entry !== undefined && isHost(entry)) return { kind: 'host entry', host: entry }
  const pem = /^tls\/(?:(certificate|key)s\/|more\/)([0-9a-f]{32})(?:\.(certificate|key)-[2-4])?\.map$/.exec(path)
  const [, first, id = '', further] = pem ?? []
  if ((first === undefined) !== (further === undefined)) {
    return { kind: 'certificate', id, secret: (first ?? further) === 'key' }
  }
  throw new Error('not a path of an edge')
}

/** Whether a file gives a host its certificate: the pair, or the entry that names it. */
export const isCertificateFile = (path: string): boolean => ['certificate', 'host entry'].includes(parsePath(path).kind)

export const isSecret = (path: string): boolean => {
  const parsed = parsePath(path)
  return parsed.kind === 'certificate' && parsed.secret
}

/** Compares two paths by the order in which their files come. */
export const byOrder = (a: string, b: string): number => rank(a) - rank(b)

const rank = (path: string): number => ORDER.indexOf(parsePath(path).kind)
