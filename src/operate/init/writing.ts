import { chownSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createFile, type FileOwner, replaceFile, syncFolder } from '../../primitives/durable-file.ts'
import type { InitParts, NginxPlace } from './contract.ts'

/** A file that `init` writes. Null `before`: it does not exist yet. */
export interface NewFile {
  readonly path: string
  readonly before: string | null
  readonly after: string
  readonly mode: number
  /** Whether a person may see its text. */
  readonly secret: boolean
}

interface Writing {
  readonly files: readonly NewFile[]
  readonly nginx: NginxPlace
}

/**
 * Returns the way back: nginx runs without Drawbridge again, and every file and folder that was made here is gone. Goes it itself
 * if a file cannot be written.
 */
export async function writeFiles(
  { files, nginx }: Writing,
  { leave, clock, serviceUser }: Pick<InitParts, 'leave' | 'clock' | 'serviceUser'>,
): Promise<() => Promise<void>> {
  const made: string[] = []
  const makeFolder = (path: string) => {
    const first = mkdirSync(path, { recursive: true, mode: 0o755 })
    if (first !== undefined) made.unshift(first)
    return first !== undefined
  }
  const create = async (path: string, text: string, mode: number, owner?: FileOwner) => {
    await createFile(path, text, mode, true, owner)
    made.push(path)
  }
  let putMainBack = async () => {}
  let folderIsNew = false
  const takeBack = async () => {
    if (folderIsNew) await leave(nginx)
    await putMainBack()
    for (const path of made) rmSync(path, { recursive: true, force: true })
  }
  try {
    for (const { path, before, after, mode, secret } of files) {
      makeFolder(dirname(path))
      if (before === null) {
        await create(path, after, mode, secret ? serviceUser() : undefined)
        await syncFolder(dirname(path))
        continue
      }
      await create(backupOf(path, files, clock.now()), before, mode)
      putMainBack = () => replaceKeepingOwner(path, before, mode)
      await replaceKeepingOwner(path, after, mode)
    }
    folderIsNew = makeFolder(nginx.folder)
  } catch (error) {
    await takeBack()
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`Not every file could be written, and everything is as it was before. ${reason}`)
  }
  return takeBack
}

/** Beside the main file, where nginx includes nothing with this ending. */
const backupOf = (path: string, files: readonly NewFile[], now: number): string => {
  const own = files.find(({ before }) => before === null)
  const folder = own ? dirname(own.path) : dirname(path)
  const free = (name: string) => !existsSync(join(folder, name))
  const name = `${basename(path)}.before-drawbridge`
  return join(folder, free(name) ? name : `${name}-${now}`)
}

async function replaceKeepingOwner(path: string, text: string, mode: number): Promise<void> {
  const { uid, gid } = statSync(path)
  await replaceFile(path, text, mode)
  if (process.getuid?.() === 0) chownSync(path, uid, gid)
}
