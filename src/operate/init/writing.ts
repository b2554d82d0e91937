import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { clauseOf } from '../../primitives/clause.ts'
import { createFile, type FileOwner, replaceFile, syncFolder } from '../../primitives/durable-file.ts'
import type { FoundNginx, InitParts, NginxPlace } from './contract.ts'

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
  readonly found: Pick<FoundNginx, 'config' | 'main'>
}

/**
 * nginx runs without Drawbridge again, its main file is as it was found, and every file and folder that was made here is gone.
 * Resolves with sentences about what could not be done; everything else is done all the same.
 */
type TakeBack = () => Promise<readonly string[]>

/** Returns the way back. Goes it itself if a file cannot be written. */
export async function writeFiles(
  { files, nginx, found }: Writing,
  {
    leave,
    clock,
    serviceUser,
    assertUnchanged,
  }: Pick<InitParts, 'leave' | 'clock' | 'serviceUser' | 'assertUnchanged'>,
): Promise<TakeBack> {
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
  let backup: string | undefined
  let folderIsNew = false
  const takeBack = async () => {
    const faults: string[] = []
    const attempt = (work: () => unknown, told: (reason: string) => string) =>
      Promise.resolve()
        .then(work)
        .catch((error: unknown) => void faults.push(told(clauseOf(error))))
    const stays = (reason: string) => `nginx may run with Drawbridge's servers until it is reloaded: ${reason}.`
    const written = files.find(({ before }) => before !== null)?.after ?? found.main
    const isEdited = ![found.main, written].includes(textAt(found.config) ?? '')
    if (folderIsNew) await attempt(() => leave(nginx), stays)
    let kept: string | undefined
    await attempt(
      () => putBack(found, isEdited),
      (reason) => {
        kept = backup
        return `${found.config} is not as it was${kept === undefined ? '' : `, and ${kept} is its copy`}: ${reason}.`
      },
    )
    for (const path of made.filter((one) => !isPartOf(kept, one)))
      await attempt(
        () => rmSync(path, { recursive: true, force: true }),
        (reason) => `${path} is still there: ${reason}.`,
      )
    return faults
  }
  for (const { before } of files) if (before !== null) assertUnchanged(nginx, before)
  try {
    for (const { path, before, after, mode, secret } of files) {
      makeFolder(dirname(path))
      if (before === null) {
        await create(path, after, mode, secret ? serviceUser() : undefined)
        await syncFolder(dirname(path))
        continue
      }
      backup = backupOf(path, files, clock.now())
      await create(backup, before, mode)
      await replaceKeepingOwner(path, after, mode, () => assertUnchanged(nginx, before))
    }
    folderIsNew = makeFolder(nginx.folder)
  } catch (error) {
    throw await takenBack('Not every file could be written', error, takeBack)
  }
  return takeBack
}

/** Takes everything back. Returns the error that says why, and what is left. */
export async function takenBack(what: string, cause: unknown, takeBack: TakeBack): Promise<Error> {
  const faults = await takeBack()
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (faults.length === 0) return new Error(`${what}, and everything is as it was before. ${reason}`)
  return new Error([`${what}, and not everything could be taken back. ${reason}`, ...faults].join('\n'))
}

const isPartOf = (path: string | undefined, folder: string): boolean =>
  path !== undefined && `${path}/`.startsWith(`${folder}/`)

/** Removing the include of Drawbridge takes away also one that the administrator had added before. */
async function putBack({ config, main }: Writing['found'], isEdited: boolean): Promise<void> {
  if (isEdited) throw new Error('somebody else changed it at the same time')
  if (textAt(config) !== main) await replaceKeepingOwner(config, main, statSync(config).mode & 0o777)
}

/** Undefined if it cannot be read. */
function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Beside the main file, where nginx includes nothing with this ending. */
const backupOf = (path: string, files: readonly NewFile[], now: number): string => {
  const own = files.find(({ before }) => before === null)
  const folder = own ? dirname(own.path) : dirname(path)
  const free = (name: string) => !existsSync(join(folder, name))
  const name = `${basename(path)}.before-drawbridge`
  return join(folder, free(name) ? name : `${name}-${now}`)
}

async function replaceKeepingOwner(path: string, text: string, mode: number, check?: () => void): Promise<void> {
  const { uid, gid } = statSync(path)
  await replaceFile(path, text, mode, check)
  if (process.getuid?.() === 0) chownSync(path, uid, gid)
}
