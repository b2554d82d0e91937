import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { createFile, errorCode, syncFolder } from '../../primitives/durable-file.ts'
import { BadBackup } from './age-file.ts'
import { type BackedUpFile, STORE_KEY } from './backup-file.ts'

/** Where the files of an installation lie. */
export interface StatePlaces {
  readonly stateDir: string
  readonly storeKeyFile: string
}

/** Issued pairs, and the account keys and unfinished orders of certificate authorities. */
const KEPT_FOLDERS = ['certificates', 'acme']
/** The edge's files from before a run. Those of unsettled runs are needed to undo them. */
const RUN_BACKUPS = 'backups'

/** Pairs are replaced by renaming their folder. A folder that was replaced meanwhile is read again. */
const TRIES = 5

/** The files that belong to a snapshot of the store. `runs`: the runs that are not settled in it. */
export function* stateFiles({ stateDir, storeKeyFile }: StatePlaces, runs: readonly string[]): Generator<BackedUpFile> {
  const key = contentOf(storeKeyFile)
  if (key !== undefined) yield { path: STORE_KEY, content: key }
  const folders = [...KEPT_FOLDERS, ...runs.map((runId) => join(RUN_BACKUPS, runId))]
  for (const folder of folders) yield* filesBelow(stateDir, join(stateDir, folder))
}

function* filesBelow(root: string, folder: string): Generator<BackedUpFile> {
  const { files, folders } = readFolder(root, folder)
  yield* files
  for (const each of folders) yield* filesBelow(root, each)
}

function readFolder(root: string, folder: string): { files: BackedUpFile[]; folders: string[] } {
  for (let tries = 1; ; tries += 1) {
    const before = inodeOf(folder)
    if (before === undefined) return { files: [], folders: [] }
    try {
      const entries = readdirSync(folder, { withFileTypes: true })
      const files = entries
        .filter((entry) => entry.isFile())
        .flatMap(({ name }) => {
          const content = contentOf(join(folder, name))
          return content === undefined ? [] : [{ path: relative(root, join(folder, name)), content }]
        })
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
      if (inodeOf(folder) === before || tries === TRIES) return { files, folders }
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || tries === TRIES) throw error
    }
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino

/** In base64; undefined if there is no file. */
function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path).toString('base64')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read (${errorCode(error) ?? 'unknown reason'}).`)
  }
}

/** Where a file of a backup belongs. Throws for a path that no backup has: the content of a backup is not trusted. */
export function placeOf(path: string, { stateDir, storeKeyFile }: StatePlaces): string {
  if (path === STORE_KEY) return storeKeyFile
  const parts = path.split('/')
  const isOurs = [...KEPT_FOLDERS, RUN_BACKUPS].includes(parts[0] ?? '') && parts.length > 1
  if (!isOurs || parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')))
    throw new BadBackup('The backup names a file outside the state folder. Nothing of it was used.')
  return join(stateDir, path)
}

/** `missing`: it can be written. `differs`: something else stands there, and it stays. */
export function standing(file: BackedUpFile, places: StatePlaces): 'missing' | 'same' | 'differs' {
  const place = placeOf(file.path, places)
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (!found) return 'missing'
  return found.isFile() && contentOf(place) === file.content ? 'same' : 'differs'
}

/** Writes a file that is missing, for its owner alone. Durable when it resolves. */
export async function putBack(file: BackedUpFile, places: StatePlaces): Promise<void> {
  const place = placeOf(file.path, places)
  const inside = file.path === STORE_KEY ? [] : dirname(file.path).split('/')
  let folder = file.path === STORE_KEY ? dirname(place) : places.stateDir
  for (const name of inside) {
    folder = join(folder, name)
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
    await chmod(folder, 0o700)
    await syncFolder(dirname(folder))
  }
  await createFile(place, Buffer.from(file.content, 'base64'), 0o600)
  await syncFolder(dirname(place))
}
