import { randomBytes } from 'node:crypto'
import { link, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFile, syncFolder } from '../../primitives/durable-file.ts'
import { byOrder, isSecret, STAGING } from '../config/layout.ts'
import { type EdgeChange, EdgeFault, type EdgeFile } from '../contract.ts'
import { assertStaging, hashFile, hashOf, NO_FILE, notRegularFile, withEdgeFaults } from './files.ts'

/**
 * Puts files in place and takes others away: all of it or, unless the program dies meanwhile, nothing. Looks at
 * everything before it touches anything, and leaves alone what stands already as it shall.
 */
export async function replaceFiles(folder: string, change: EdgeChange): Promise<void> {
  await assertStaging(folder)
  const { coming, going, standing } = await compare(folder, change)
  const drafts = coming.map(newDraft)
  const undo: (() => Promise<void>)[] = []
  try {
    await allSettled(coming.map((file, index) => writeDraft(folder, file, drafts[index] ?? '')))
    for (const [index, { path }] of coming.entries()) {
      undo.push(await installFile(folder, drafts[index] ?? '', path, standing.get(path) === null, drafts))
    }
    for (const { path } of going) undo.push(await removeFile(folder, path, standing.get(path), drafts))
    await syncFolders(folder, change.files)
  } catch (error) {
    await undoAll(undo.reverse())
    throw error
  } finally {
    await Promise.all(drafts.map((draft) => rm(join(folder, draft), { force: true })))
  }
}

async function compare(folder: string, { files, expected }: EdgeChange) {
  const looks = await Promise.all(files.map(({ path }) => hashFile(folder, path)))
  const standing = new Map(looks.map(({ path, hash }) => [path, hash]))
  const open = files.filter(({ path, content }) => {
    const hash = standing.get(path)
    if (hash === NO_FILE) throw notRegularFile(path)
    if (hash === hashOf(content)) return false
    if (!expected.some((before) => before.path === path && before.hash === hash)) throw changedMeanwhile(path)
    return true
  })
  return {
    standing,
    coming: open.filter(({ content }) => content !== null).toSorted((a, b) => byOrder(a.path, b.path)),
    going: open.filter(({ content }) => content === null).toSorted((a, b) => byOrder(b.path, a.path)),
  }
}

const changedMeanwhile = (path: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `${path} is not what it was when it was looked at. It was left alone.`)

const newDraft = (): string => join(STAGING, `draft-${randomBytes(8).toString('hex')}`)

const writeDraft = (folder: string, { path, content }: EdgeFile, draft: string): Promise<void> =>
  withEdgeFaults(path, () => createFile(join(folder, draft), content ?? '', isSecret(path) ? 0o600 : 0o644))

/** Waits for all of them even when one fails: a draft still being written could not be taken away. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

type Undo = () => Promise<void>

/**
 * Where nothing stood, a link is the way that cannot overwrite what somebody puts there at this very moment. Where
 * something stood, there is no such way: between the look and the rename somebody's edit could be lost.
 */
function installFile(folder: string, draft: string, path: string, isNew: boolean, drafts: string[]): Promise<Undo> {
  const place = join(folder, path)
  return withEdgeFaults(path, async () => {
    if (isNew) {
      await link(join(folder, draft), place)
      return () => rm(place)
    }
    const former = newDraft()
    drafts.push(former)
    await link(place, join(folder, former))
    await rename(join(folder, draft), place)
    return () => rename(join(folder, former), place)
  })
}

/** Moved aside before it is looked at a last time: what somebody wrote at this very moment is put back. */
function removeFile(
  folder: string,
  path: string,
  expected: string | null | undefined,
  drafts: string[],
): Promise<Undo> {
  const place = join(folder, path)
  const aside = newDraft()
  return withEdgeFaults(path, async () => {
    await rename(place, join(folder, aside))
    try {
      if ((await hashFile(folder, aside)).hash !== expected) throw changedMeanwhile(path)
    } catch (error) {
      // A link overwrites nothing: where somebody has just put another file, the one that was moved aside is kept.
      await link(join(folder, aside), place)
      drafts.push(aside)
      throw error
    }
    drafts.push(aside)
    return () => link(join(folder, aside), place)
  })
}

async function undoAll(undo: readonly Undo[]): Promise<void> {
  for (const step of undo) await withEdgeFaults('What was written before a failure', step)
}

async function syncFolders(folder: string, files: readonly EdgeFile[]): Promise<void> {
  const paths = new Set(files.map(({ path }) => dirname(path)))
  await Promise.all([...paths].map((path) => withEdgeFaults(path, () => syncFolder(join(folder, path)))))
}
