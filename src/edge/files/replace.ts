import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashOfLink, linkIn } from '../../model/receipt.ts'
import { createFile, syncFolder } from '../../primitives/durable-file.ts'
import { isSecret, placeOf, STAGING } from '../config/layout.ts'
import { type EdgeChange, EdgeFault, type EdgeFile, type FileHash } from '../contract.ts'
import { assertStaging, hashOf, hashOfFound, lookAt, NO_FILE, notRegularFile, withEdgeFaults } from './files.ts'

/** Refuses a change of what somebody else changed. */
export function assertExpected(
  { files, expected, replacesLinks }: EdgeChange,
  hashAt: (path: string) => FileHash,
): void {
  const acceptable = Map.groupBy(expected, ({ path }) => path)
  for (const file of files) {
    const { path } = file
    const { hash } = hashAt(path)
    if (hash === NO_FILE || (linkIn(hash) !== undefined && !replacesLinks)) throw notRegularFile(path)
    if (hash === hashOfFile(file)) continue
    if (!acceptable.get(path)?.some((before) => before.hash === hash)) throw changedMeanwhile(path)
  }
}

/** What `replaceFiles` did. One of them is called, once. */
export interface Replaced {
  takeBack(): void
  keep(): void
}

/** Writes and removes files outside the generations. */
export async function replaceFiles(folder: string, files: readonly EdgeFile[]): Promise<Replaced> {
  if (files.length === 0) return { takeBack: () => undefined, keep: () => undefined }
  await assertStaging(folder)
  const drafts: string[] = []
  const undo: (() => void)[] = []
  const keep = () => {
    for (const draft of drafts) rmSync(join(folder, draft), { force: true })
  }
  const takeBack = () => {
    for (const step of undo.toReversed()) step()
    keep()
  }
  try {
    for (const file of files) {
      const found = lookAt(folder, file.path)
      if (hashOfFound(file.path, found).hash === hashOfFile(file)) continue
      undo.push(await replaceOne(folder, file, found.kind === 'none', drafts))
    }
    await syncFolders(folder, files)
    return { takeBack, keep }
  } catch (error) {
    takeBack()
    throw error
  }
}

async function replaceOne(folder: string, file: EdgeFile, isNew: boolean, drafts: string[]): Promise<() => void> {
  const place = placeOf(folder, file.path)
  const former = newDraft()
  drafts.push(former)
  return withEdgeFaults(file.path, async () => {
    if (!isNew) linkSync(place, join(folder, former))
    const putBack = () => (isNew ? rmSync(place, { force: true }) : renameSync(join(folder, former), place))
    if (hashOfFile(file) === null) {
      rmSync(place)
      return putBack
    }
    const draft = newDraft()
    drafts.push(draft)
    await writeDraft(folder, file, draft)
    // A link cannot overwrite a file that another program creates at the same time.
    if (isNew) linkSync(join(folder, draft), place)
    else renameSync(join(folder, draft), place)
    return putBack
  })
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

async function syncFolders(folder: string, files: readonly EdgeFile[]): Promise<void> {
  const folders = new Set(files.map(({ path }) => dirname(placeOf(folder, path))))
  await Promise.all([...folders].map((path) => withEdgeFaults(path, () => syncFolder(path))))
}
