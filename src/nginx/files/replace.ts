import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assertStaging, withEdgeFaults } from '../../edge/faults.ts'
import { STAGING } from '../../edge/layout.ts'
import { type OutsideFile, placeOf } from '../../estate/layout.ts'
import { createFile, syncFolder } from '../../primitives/durable-file.ts'
import { bytesOf } from '../../primitives/lossless-text.ts'
import { hashOf, hashOfFound, lookAt } from './files.ts'

/** Ends a `replaceFiles`. Exactly one method must be called, once. */
export interface Replaced {
  takeBack(): void
  keep(): void
}

/** Writes and removes files outside the generations. */
export async function replaceFiles(folder: string, files: readonly OutsideFile[]): Promise<Replaced> {
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
      if (hashOfFound(found) === hashOf(file.content)) continue
      undo.push(await replaceOne(folder, file, found.kind === 'none', drafts))
    }
    await syncFolders(folder, files)
    return { takeBack, keep }
  } catch (error) {
    takeBack()
    throw error
  }
}

async function replaceOne(folder: string, file: OutsideFile, isNew: boolean, drafts: string[]): Promise<() => void> {
  const place = placeOf(folder, file.path)
  const former = newDraft()
  drafts.push(former)
  return withEdgeFaults(file.path, async () => {
    if (!isNew) linkSync(place, join(folder, former))
    const putBack = () => (isNew ? rmSync(place, { force: true }) : renameSync(join(folder, former), place))
    if (file.content === null) {
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

const newDraft = (): string => join(STAGING, `draft-${randomBytes(8).toString('hex')}`)

const writeDraft = (folder: string, { path, content, secret }: OutsideFile, draft: string): Promise<void> =>
  withEdgeFaults(path, () => createFile(join(folder, draft), bytesOf(content ?? ''), secret ? 0o600 : 0o644))

async function syncFolders(folder: string, files: readonly OutsideFile[]): Promise<void> {
  const folders = new Set(files.map(({ path }) => dirname(placeOf(folder, path))))
  await Promise.all([...folders].map((path) => withEdgeFaults(path, () => syncFolder(path))))
}
