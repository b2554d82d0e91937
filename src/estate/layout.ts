import { join } from 'node:path'
import { CURRENT, GENERATIONS } from '../edge/layout.ts'

// The layout of an edge's folder. Drawbridge reads and writes only these paths there, and those of edge/layout.ts.
export const BASE_FILE = 'drawbridge.conf'
/** The test copy of the administrator's main file has this name and a random suffix, in the same folder. */
export const SHADOW_PREFIX = '.drawbridge-shadow-'

/** Whether Drawbridge wrote a file that nginx reads. The administrator may have added other files to our folder. */
export const isWrittenByUs = (folder: string, path: string): boolean =>
  [BASE_FILE, `${GENERATIONS}/`, `${CURRENT}/`].some((name) => path.startsWith(`${folder}/${name}`))

export type PemKind = 'certificate' | 'key'

/** One value in nginx's configuration has at most 4,096 characters. A longer chain is split into several parts. */
export const MAX_PARTS: Readonly<Record<PemKind, number>> = { certificate: 4, key: 2 }

/** Files of hosts that are no longer managed. They are beside the edge's folder, and Drawbridge must not change them. */
const RELEASED = 'released/'
export const releasedFile = (host: string, ending: 'conf' | 'crt' | 'key'): string => `${RELEASED}${host}.${ending}`
export const releasedFolder = (folder: string): string => `${folder}-released`
export const releasedPlace = (folder: string, path: string): string =>
  `${releasedFolder(folder)}/${path.slice(RELEASED.length)}`
export const isReleased = (path: string): boolean => path.startsWith(RELEASED)

/**
 * The record of a hand-written site that a plan has taken out of its files. It is beside the edge's folder, with the original
 * files.
 */
const ADOPTED = 'adopted/'
export const adoptedFile = (planId: string): string => `${ADOPTED}${planId}`
/** Holds a folder for each adopted site. */
export const adoptedFolder = (folder: string): string => `${folder}-adopted`
export const SITE_RECORD = 'record.json'
export const adoptedPlace = (folder: string, path: string): string =>
  `${adoptedFolder(folder)}/${path.slice(ADOPTED.length)}/${SITE_RECORD}`
export const isAdopted = (path: string): boolean => path.startsWith(ADOPTED)

/** A file outside the folder of the edge. A null `content` means that it must not exist. A `secret` file has mode 0600. */
export interface OutsideFile {
  readonly path: string
  readonly content: string | null
  readonly secret: boolean
}

/** The absolute path of a file of the edge. */
export const placeOf = (folder: string, path: string): string =>
  isReleased(path) ? releasedPlace(folder, path) : isAdopted(path) ? adoptedPlace(folder, path) : join(folder, path)

/** The folders whose files have one line per host and are read without a parser, and the extension of those files. */
export const GATHERED_ENDINGS = { 'names-http': 'conf', 'names-https': 'conf', backends: 'map' } as const
