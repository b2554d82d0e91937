import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, lstatSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EdgeFault } from '../edge/contract/fault.ts'
import { withEdgeFaults } from '../edge/faults.ts'
import { owning } from '../edge/fences/folder-lock.ts'
import { releasedFolder, SHADOW_PREFIX } from '../estate/layout.ts'
import { assertUnchanged, hasReleasedInclude, withoutOurInclude } from '../estate/reading/main-file.ts'
import { refusalSentence } from '../estate/reading/refusal.ts'
import type { EdgeSettings } from '../estate/settings.ts'
import { createFile, syncFolder } from '../primitives/durable-file.ts'
import { PresentGeneration } from './generations/present.ts'
import { testConfiguration } from './process/nginx-program.ts'
import { masterPid } from './process/nginx-workers.ts'
import { replaceWorkers } from './process/reload.ts'

/** What was removed from nginx. */
interface Left {
  readonly edited: string | null
  readonly removed: string | null
  readonly reloaded: boolean
  /** Files of released sites. The main file includes them now. */
  readonly released: readonly string[]
}

/**
 * Removes the include line from the administrator's main file, and removes the folder of the edge. nginx continues to serve
 * released sites: the main file includes them instead of our base file. Refuses while a service or an agent owns the folder, and while
 * a host has an entry, unless `withHosts`. Tests the main file without the line before it replaces the main file. Removes the folder
 * only after nginx runs without it. Repeatable.
 */
export async function leaveNginx(settings: EdgeSettings, { withHosts = false } = {}): Promise<Left> {
  const { folder } = settings
  const isThere = existsSync(folder)
  const leave = async () => {
    if (isThere && !withHosts) assertEmpty(settings)
    const released = releasedSites(settings)
    const edited = await withoutInclude(settings, released)
    if (isThere && edited === null && released.length > 0) assertIncluded(settings, released)
    const reloaded = edited !== null && masterPid(settings.pidFile) !== undefined
    if (reloaded) await replaceWorkers(settings)
    return { edited, removed: isThere ? folder : null, reloaded, released }
  }
  const left = await owning(folder, settings.server, leave)
  if (isThere) rmSync(folder, { recursive: true, force: true })
  return left
}

function assertEmpty({ folder, server }: EdgeSettings): void {
  const hosts = [...new PresentGeneration(folder).all()].map(({ host }) => host)
  if (hosts.length === 0) return
  const shown = hosts.slice(0, 5).join(', ') + (hosts.length > 5 ? ', …' : '')
  throw new EdgeFault(
    'unavailable',
    `Edge ${server} still serves ${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'} (${shown}). If it is the Secondary, retire it on the machine of a service: ` +
      `drawbridge edge retire ${server}. To end the whole installation, withdraw all hosts there: drawbridge withdraw --all`,
  )
}

/** The files by which nginx serves released sites. They are beside our folder, and belong to the administrator. */
function releasedSites({ folder }: EdgeSettings): string[] {
  const place = releasedFolder(folder)
  const names = existsSync(place) ? readdirSync(place) : []
  // Like nginx's own pattern, it omits names that begin with a dot.
  return names
    .filter((name) => name.endsWith('.conf') && !name.startsWith('.'))
    .toSorted()
    .map((name) => join(place, name))
}

/**
 * Refuses if the main file has no line of ours: it is then unknown how nginx reads the base file and, with it, the released sites.
 */
function assertIncluded(settings: EdgeSettings, released: readonly string[]): void {
  if (hasReleasedInclude(settings)) return
  const place = releasedFolder(settings.folder)
  throw new EdgeFault(
    'unavailable',
    `${released.length} released sites in ${place} would go off the air, because ${settings.config} does not include them. ` +
      `Add "include ${place}/*.conf;" to its http block, or move the files away.`,
  )
}

/** The path of the main file if it was changed. The file keeps its owner and mode; a link to it stays a link. */
async function withoutInclude(settings: EdgeSettings, released: readonly string[]): Promise<string | null> {
  const text = withoutOurInclude(settings, { keepsReleased: released.length > 0 })
  if (text === undefined) return null
  assertUnchanged(settings, text.before)
  const main = realpathSync(settings.config)
  const draft = join(dirname(settings.config), `${SHADOW_PREFIX}${randomBytes(8).toString('hex')}`)
  const { mode, uid, gid } = statSync(main)
  try {
    await withEdgeFaults(draft, () => createFile(draft, text.after, mode & 0o777))
    const refusal = await testConfiguration(settings, draft)
    if (refusal)
      throw new EdgeFault(
        'change_invalid',
        `nginx refuses ${main} without the include line: ${refusalSentence(refusal)}.`,
      )
    chownSync(draft, uid, gid)
    assertUnchanged(settings, text.before)
    renameSync(draft, main)
  } finally {
    if (lstatSync(draft, { throwIfNoEntry: false })) rmSync(draft)
  }
  await syncFolder(dirname(main))
  return settings.config
}
