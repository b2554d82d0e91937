import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BASE_FILE, FOLDERS, SHADOW_PREFIX, STAGING } from '../config/layout.ts'
import { ROOM_FOR_NAMES, renderBase } from '../config/render-base.ts'
import { EdgeFault, type EdgeFile } from '../contract.ts'
import { hashOf, readEdgeFile, withEdgeFaults } from '../files/files.ts'
import { replaceFiles } from '../files/replace.ts'
import { readMainFile } from '../reading/main-file.ts'
import { refusalSentence } from '../reading/refusal.ts'
import type { EdgeSettings } from '../settings.ts'
import { defaultServerAnswers } from '../visit/ask.ts'
import { assertNoServerShadowed } from './neighbours.ts'
import { masterPid } from './nginx-workers.ts'
import { reloadNginx } from './reload.ts'
import { testShadow } from './shadow.ts'

/** Changes nothing before it has checked that the administrator's configuration includes the folder. */
export async function prepareEdge(settings: EdgeSettings, signal?: AbortSignal): Promise<void> {
  await readMainFile(settings)
  for (const { path, mode } of FOLDERS) await makeFolder(join(settings.folder, path), mode)
  await removeLeftOvers(settings)
  await replaceBase(settings, signal)
  if (isRunning(settings) && !(await defaultServerAnswers(settings, signal))) await reloadNginx(settings, signal)
}

async function makeFolder(path: string, mode: number): Promise<void> {
  const made = await withEdgeFaults(path, () => mkdir(path, { recursive: true }))
  if (made) await withEdgeFaults(path, () => chmod(path, mode))
  const found = await withEdgeFaults(path, () => lstat(path))
  if (!found.isDirectory()) throw new EdgeFault('unavailable', `${path} must be a folder and not a link.`)
  const wider = found.mode & ~mode & 0o077
  if (wider === 0) return
  throw new EdgeFault(
    'unavailable',
    `${path} is open to other users. Run: chmod ${mode.toString(8).padStart(4, '0')} ${path}`,
  )
}

/** Removes what a crash during a test or a swap left behind. */
async function removeLeftOvers({ config, folder }: EdgeSettings): Promise<void> {
  const drafts = await withEdgeFaults(STAGING, () => readdir(join(folder, STAGING)))
  const beside = await withEdgeFaults(dirname(config), () => readdir(dirname(config)))
  const leftOvers = [
    ...drafts.map((name) => join(folder, STAGING, name)),
    ...beside.filter((name) => name.startsWith(SHADOW_PREFIX)).map((name) => join(dirname(config), name)),
  ]
  for (const path of leftOvers) await withEdgeFaults(path, () => rm(path, { recursive: true, force: true }))
}

async function replaceBase(settings: EdgeSettings, signal: AbortSignal | undefined): Promise<void> {
  const { folder } = settings
  const former = await readEdgeFile(folder, BASE_FILE)
  const base = await acceptableBase(settings, former, signal)
  if (former.content === base.content) return
  await assertNoServerShadowed(settings, signal)
  await replaceFiles(folder, { files: [base], expected: [{ path: BASE_FILE, hash: hashOf(former.content) }] })
  try {
    if (isRunning(settings)) await reloadNginx(settings, signal)
  } catch (error) {
    // The test of the new file has passed, and nginx may load it yet.
    signal?.throwIfAborted()
    // nginx keeps its running configuration, but it would not start again with the file that it rejected.
    await replaceFiles(folder, { files: [former], expected: [{ path: BASE_FILE, hash: hashOf(base.content) }] })
    throw error
  }
}

/**
 * Leaves out the hash sizes that the administrator's configuration already sets. If an error outside Drawbridge hides the
 * result of the test, a base file that is already on disk is kept.
 */
async function acceptableBase(
  settings: EdgeSettings,
  former: EdgeFile,
  signal: AbortSignal | undefined,
  leftOut: readonly string[] = [],
): Promise<EdgeFile> {
  const base = { ...former, content: renderBase(settings, new Set(leftOut)) }
  const refusal = await testShadow(settings, [base], { signal })
  if (!refusal) return base
  const { duplicate } = refusal
  if (duplicate !== undefined && ROOM_FOR_NAMES.includes(duplicate) && !leftOut.includes(duplicate)) {
    return acceptableBase(settings, former, signal, [...leftOut, duplicate])
  }
  if (former.content === base.content) return former
  const sentence = `nginx on edge ${settings.server} rejected its configuration with Drawbridge's base file: ${refusalSentence(refusal)}. Repair it and run "nginx -t".`
  throw new EdgeFault('config_broken', sentence)
}

const isRunning = ({ pidFile }: EdgeSettings): boolean => masterPid(pidFile) !== undefined
