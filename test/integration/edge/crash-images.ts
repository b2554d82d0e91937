import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** What a process that dies at a moment leaves on the disk. */
export interface CrashImage {
  /** The point of the engine, or the call that was not made any more. */
  readonly moment: string
  /** Puts the folder back as it was at that moment. The process that wrote it is dead then. */
  restore(): void
}

const SYNCHRONOUS = [
  ...['renameSync', 'linkSync', 'symlinkSync', 'mkdirSync', 'rmSync', 'writeFileSync', 'copyFileSync', 'chmodSync'],
  ...['chownSync', 'openSync'],
] as const
const ASYNCHRONOUS = ['rm', 'rmdir', 'mkdir', 'rename', 'symlink', 'open', 'chmod'] as const

type Functions = Record<string, (...given: unknown[]) => unknown>

/**
 * Takes an image of the folder before each call by which `work` changes the file system, and at each moment that it names itself.
 * Such a call is one of the system, so there are no states between two of them, except of a file that is half written.
 * `isChosen`: whether a moment is wanted.
 */
export async function crashImages(
  folder: string,
  images: string,
  work: (reached: (moment: string) => void) => Promise<unknown>,
  isChosen: (moment: string) => boolean = () => true,
): Promise<CrashImage[]> {
  const taken: CrashImage[] = []
  fs.mkdirSync(images, { recursive: true })
  const take = (moment: string) => {
    if (!isChosen(moment)) return
    const image = join(images, `${basename(folder)}-${taken.length}`)
    copy(folder, image)
    taken.push({ moment, restore: () => restore(image, folder) })
  }
  const release = [
    ...SYNCHRONOUS.map((name) => watched(fs as unknown as Functions, name, take)),
    ...ASYNCHRONOUS.map((name) => watched(promises as unknown as Functions, name, take)),
  ]
  syncBuiltinESMExports()
  try {
    await work(take)
  } finally {
    for (const put of release) put()
    syncBuiltinESMExports()
  }
  take('the end')
  return taken
}

/** The paths of open files. */
const opened = new Map<unknown, string>()

function watched(functions: Functions, name: string, take: (moment: string) => void): () => void {
  const original = functions[name]
  if (!original) throw new Error(`Node has no ${name}.`)
  functions[name] = (...given) => {
    const [first, second] = given.map((one) => opened.get(one) ?? one)
    const paths = [first, ...(/^(?:rename|link|symlink|copy)/.test(name) ? [second] : [])]
    if (isChange(name, given)) take(`${name} ${paths.join(' ')}`)
    const result = original(...given)
    if (name === 'openSync') opened.set(result, String(first))
    return result
  }
  return () => {
    functions[name] = original
  }
}

/** A file that is opened to be read changes nothing. */
const isChange = (name: string, [, flags]: readonly unknown[]): boolean =>
  !/^open/.test(name) || (typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0)

/** As they are while those of the module are watched. */
const { chmodSync, copyFileSync, linkSync, lstatSync, mkdirSync, symlinkSync } = fs

/** Keeps hard links, of which generations consist, with rights and times. A program for each copy took longer than the changes. */
function copy(from: string, to: string, links = new Map<number, string>()): void {
  const found = lstatSync(from)
  const linked = links.get(found.ino)
  if (found.isSymbolicLink()) symlinkSync(fs.readlinkSync(from), to)
  else if (linked !== undefined) linkSync(linked, to)
  else {
    if (found.isDirectory()) {
      mkdirSync(to, { recursive: true })
      for (const name of fs.readdirSync(from)) copy(join(from, name), join(to, name), links)
    } else {
      links.set(found.ino, to)
      copyFileSync(from, to)
    }
    chmodSync(to, found.mode)
    fs.utimesSync(to, found.atime, found.mtime)
  }
}

/** A number that no process can have. */
const DEAD = 2 ** 22 + 1

function restore(image: string, folder: string): void {
  fs.rmSync(folder, { recursive: true })
  copy(image, folder)
  for (const path of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const own = new RegExp(`^(\\.drawbridge-shadow-)${process.pid}(?=-)`)
    const name = basename(path).replace(own, `$1${DEAD}`)
    if (name !== basename(path)) fs.renameSync(join(folder, path), join(folder, dirname(path), name))
  }
}
