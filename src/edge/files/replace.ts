import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync } from 'node:fs'
import { rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashOfLink, linkIn } from '../../model/receipt.ts'
import { createFile, syncFolder } from '../../primitives/durable-file.ts'
import { byOrder, isSecret, placeOf, STAGING } from '../config/layout.ts'
import { type EdgeChange, EdgeFault, type EdgeFile } from '../contract.ts'
import { type Claim, UNFENCED } from './fences.ts'
import { assertStaging, hashFile, hashOf, NO_FILE, notRegularFile, withEdgeFaults } from './files.ts'

/**
 * Writes and removes files: all of them or, unless the process dies in between, none. It compares every file before it
 * changes the first one. A file that already has the wanted content is not written. The claim is asked directly before each
 * file is changed: renaming blocks for microseconds, waiting for a free thread could take longer than a lease. When a newer
 * run has the hosts, nothing is undone.
 */
export async function replaceFiles(folder: string, change: EdgeChange, claim: Claim = UNFENCED): Promise<void> {
  claim.assertNewest()
  await assertStaging(folder)
  const { toWrite, toRemove, onDisk } = await compare(folder, change)
  const drafts = toWrite.map(newDraft)
  const undo: Undo[] = []
  try {
    const written = toWrite.map((file, index) => writeDraft(folder, file, drafts[index] ?? ''))
    await allSettled([claim.record(), ...written])
    for (const [index, { path }] of toWrite.entries()) {
      claim.assertNewest()
      undo.push(await installFile(folder, drafts[index] ?? '', path, onDisk.get(path) === null, drafts))
    }
    for (const { path } of toRemove) {
      claim.assertNewest()
      undo.push(await removeFile(folder, path, onDisk.get(path), drafts))
    }
    await syncFolders(folder, change.files)
  } catch (error) {
    claim.assertNewest()
    await undoAll(undo.reverse(), claim)
    throw error
  } finally {
    await Promise.all(drafts.map((draft) => rm(join(folder, draft), { force: true })))
  }
}

async function compare(folder: string, { files, expected, replacesLinks }: EdgeChange) {
  const found = await Promise.all(files.map(({ path }) => hashFile(folder, path)))
  const onDisk = new Map(found.map(({ path, hash }) => [path, hash]))
  const open = files.filter((file, index) => {
    const { path } = file
    const { hash, owner } = found[index] ?? { hash: null }
    if (hash === NO_FILE || (linkIn(hash) !== undefined && !replacesLinks)) throw notRegularFile(path)
    // A file that somebody gave to another user is written again.
    if (hash === hashOfFile(file)) return owner !== undefined
    if (!expected.some((before) => before.path === path && before.hash === hash)) throw changedMeanwhile(path)
    return true
  })
  return {
    onDisk,
    toWrite: open.filter((file) => hashOfFile(file) !== null).toSorted((a, b) => byOrder(a.path, b.path)),
    toRemove: open.filter((file) => hashOfFile(file) === null).toSorted((a, b) => byOrder(b.path, a.path)),
  }
}

const hashOfFile = ({ content, link: target }: EdgeFile): string | null =>
  target === undefined ? hashOf(content) : hashOfLink(target)

const changedMeanwhile = (path: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `${path} was changed outside Drawbridge. It was not overwritten.`)

const newDraft = (): string => join(STAGING, `draft-${randomBytes(8).toString('hex')}`)

const writeDraft = (folder: string, { path, content, link: target }: EdgeFile, draft: string): Promise<void> =>
  withEdgeFaults(path, () =>
    target === undefined
      ? createFile(join(folder, draft), content ?? '', isSecret(path) ? 0o600 : 0o644)
      : symlink(target, join(folder, draft)),
  )

/** Waits for all even when one fails: a draft that is still being written could not be removed. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

type Undo = () => void

/**
 * A new file is created by a hard link, which cannot overwrite a file that another program creates at the same time. An
 * existing file is replaced by rename: an edit between the comparison and the rename could be lost.
 */
function installFile(folder: string, draft: string, path: string, isNew: boolean, drafts: string[]): Promise<Undo> {
  const place = placeOf(folder, path)
  return withEdgeFaults(path, async () => {
    if (isNew) {
      linkSync(join(folder, draft), place)
      return () => rmSync(place)
    }
    const former = newDraft()
    drafts.push(former)
    linkSync(place, join(folder, former))
    renameSync(join(folder, draft), place)
    return () => renameSync(join(folder, former), place)
  })
}

/** Renames the file before the last comparison. A file that was just edited is put back. */
function removeFile(
  folder: string,
  path: string,
  expected: string | null | undefined,
  drafts: string[],
): Promise<Undo> {
  const place = placeOf(folder, path)
  const aside = newDraft()
  return withEdgeFaults(path, async () => {
    renameSync(place, join(folder, aside))
    try {
      if ((await hashFile(folder, aside)).hash !== expected) throw changedMeanwhile(path)
    } catch (error) {
      // A link overwrites nothing. If another program created the file again, the renamed file is kept.
      linkSync(join(folder, aside), place)
      drafts.push(aside)
      throw error
    }
    drafts.push(aside)
    return () => linkSync(join(folder, aside), place)
  })
}

async function undoAll(undo: readonly Undo[], claim: Claim): Promise<void> {
  for (const step of undo) {
    claim.assertNewest()
    await withEdgeFaults('A file that was written before the failure', async () => step())
  }
}

async function syncFolders(folder: string, files: readonly EdgeFile[]): Promise<void> {
  const folders = new Set(files.map(({ path }) => dirname(placeOf(folder, path))))
  await Promise.all([...folders].map((path) => withEdgeFaults(path, () => syncFolder(path))))
}
