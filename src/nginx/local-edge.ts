import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Edge } from '../edge/contract/edge.ts'
import { EdgeFault } from '../edge/contract/fault.ts'
import { GenerationEngine } from '../edge/engine/engine.ts'
import { unsettledRuns } from '../edge/engine/unsettled.ts'
import { Fences, type FencesOptions } from '../edge/fences/fences.ts'
import type { FolderLock } from '../edge/fences/folder-lock.ts'
import { isHost } from '../edge/record/entry.ts'
import type { DebugLog } from '../edge/served.ts'
import { isWithoutSite } from '../estate/adopt/released-site.ts'
import {
  BASE_FILE,
  isAdopted,
  isReleased,
  type OutsideFile,
  placeOf,
  releasedFile,
  releasedFolder,
} from '../estate/layout.ts'
import { withoutNumber } from '../estate/reading/base-file.ts'
import { refusalText } from '../estate/reading/refusal.ts'
import type { EdgeSettings } from '../estate/settings.ts'
import { escapeText } from '../model/escape-text.ts'
import type { RunName } from '../model/run.ts'
import { kernelTime } from '../primitives/clock.ts'
import { Slices } from '../primitives/slices.ts'
import { filesWithoutSite } from './adopt/find-site.ts'
import { TakenSites } from './adopt/taken-sites.ts'
import { renderBase } from './config/render-base.ts'
import { standaloneBlocks } from './config/render-entry.ts'
import { renderReleased } from './config/render-released.ts'
import type { Listening } from './config/sockets.ts'
import { hashOf, hashOfFound, lookAt } from './files/files.ts'
import { OutsideNotes } from './files/outside-notes.ts'
import { replaceFiles } from './files/replace.ts'
import { listHosts } from './generations/list.ts'
import { NginxServer, type NginxServerParts, type ReleasedFiles } from './generations/nginx-server.ts'
import { Pairs } from './generations/pairs.ts'
import { PresentGeneration } from './generations/present.ts'
import { signatureOf } from './generations/seen-files.ts'
import { listeningReader } from './process/neighbours.ts'
import { type Nginx, systemNginx } from './process/nginx.ts'
import { prepareEdge } from './process/prepare.ts'
import { refusedBase } from './process/rehearse.ts'
import { testShadow } from './process/shadow.ts'

export interface LocalEdgeParts {
  /** Taken before the first change, and held until `release`. Default: the caller owns the folder already. */
  readonly lock?: Pick<FolderLock, 'take' | 'release'>
  /** Where its servers listen. Default: read from the configuration of nginx. */
  readonly listening?: () => Promise<Listening>
  /** See `Fences`. */
  readonly onIgnoredFence?: FencesOptions['onIgnored']
  /** See `NginxServerParts`. */
  readonly onForgottenRuns?: NginxServerParts['onForgottenRuns']
  /** Parts of the program that are replaced. Default: the nginx of this machine. */
  readonly nginx?: Partial<Nginx>
  /** Called after every proven reload with the time at which the reload began. */
  readonly loaded?: ((since: number) => void) | undefined
}

interface LocalEdge extends Edge {
  /** Makes this process the owner. Throws `OwnedElsewhere` if another one is. */
  own(): void
  /** Gives the folder to the next owner. A change under way is finished before. */
  release(): Promise<void>
}

/** An nginx on this machine. */
export function localEdge(settings: EdgeSettings, parts: LocalEdgeParts = {}): LocalEdge {
  const { lock, listening = listeningReader(settings), loaded } = parts
  const nginx: Nginx = { ...systemNginx(settings), ...parts.nginx }
  const { server, folder, clock } = settings
  const present = new PresentGeneration(folder)
  const pairs = new Pairs(folder, clock.now)
  const assertValid = (signal?: AbortSignal) => assertLoads(settings, nginx, signal)
  const assertNoDebugLog = async (): Promise<void> => {
    const [first] = await nginx.debugLogs()
    if (first) throw logsKeys(server, first)
  }
  const reload = async (signal?: AbortSignal) => {
    const since = kernelTime()
    await nginx.reload(signal)
    loaded?.(since)
  }
  const fences = new Fences(folder, { now: clock.now, turn: clock.turn, onIgnored: parts.onIgnoredFence })
  const notes = new OutsideNotes(folder, clock.now)
  const sites = new TakenSites(folder, {
    read: (host, expected) => filesWithoutSite(settings, host, expected),
    isWrittenBy: (run, path) => notes.of(run).get(path) === hashOfFound(lookAt(folder, path)),
  })
  const web = new NginxServer({
    ...{ folder, server, present, clock, pairs, listening, assertValid, assertNoDebugLog, reload, sites },
    onForgottenRuns: parts.onForgottenRuns,
    test: (staged, outside, signal) =>
      testShadow(
        settings,
        {
          folder: staged.folder,
          released: outside.filter(({ path }) => isReleased(path)),
          others: sites.texts(outside.filter(({ path }) => isAdopted(path))),
        },
        (config) => nginx.test(config, signal),
      ),
    released: releasedFiles(settings, pairs, notes),
    ...baseOf(settings, listening),
  })
  const own = () => lock?.take()
  const engine = new GenerationEngine({ folder, server, clock, fences, own, web })

  return {
    server,
    assertValid,
    assertNoDebugLog,
    async prepare(signal) {
      try {
        const draftFolders = () => sites.folders()
        await prepareEdge(
          settings,
          {
            ...{ present, listening, draftFolders },
            alone: (work) => engine.alone(work),
            nginx: { ...nginx, reload },
            refresh: (isRunning, aborts) => engine.refresh(isRunning, aborts),
          },
          signal,
        )
        engine.whyUnprepared = undefined
      } catch (error) {
        engine.whyUnprepared = error instanceof Error ? error.message : String(error)
        throw error
      }
    },
    own,
    list: async (hosts) => {
      await assertHosts(hosts ?? [], new Slices(clock))
      return {
        generation: signatureOf(join(folder, BASE_FILE)),
        number: present.number ?? null,
        hosts: await listHosts(present, fences, {
          ...{ hosts, clock },
          listening: await listening().catch(() => settings),
        }),
        // To read the files of all hosts for each look at one took most of the monitor's time.
        stray: hosts && hosts.length > 0 ? [] : await present.stray(new Slices(clock)),
      }
    },
    change: (change, options) => engine.change(change, options),
    certificate: async (pair) => {
      engine.own()
      return pairs.put(pair)
    },
    hasCertificate: async (id) => pairs.has(id),
    challenge: (challenge, options) => engine.challenge(challenge, options),
    unsettledRuns: async () => unsettledRuns(folder),
    ask: (question, signal) => nginx.ask(question, signal),
    release: () => engine.afterwards(async () => lock?.release()),
    foreignListeners: (question, signal) => nginx.foreignListeners(question, signal),
    handshake: (host, signal) => nginx.handshake(host, signal),
  }
}

async function assertHosts(hosts: readonly string[], slices: Slices): Promise<void> {
  for (const host of hosts) {
    if (!isHost(host)) throw new Error(`${escapeText(host)} is not a valid host name.`)
    if (slices.isOver) await slices.next()
  }
}

/** What a release writes beside the edge's folder, and how that is undone. */
function releasedFiles(settings: EdgeSettings, pairs: Pairs, notes: OutsideNotes): ReleasedFiles {
  const { folder, server } = settings
  const standing = (path: string) => hashOfFound(lookAt(folder, path))
  return {
    placeOf: (host) => placeOf(folder, releasedFile(host, 'conf')),
    install: (files) => {
      if (files.length > 0) mkdirSync(releasedFolder(folder), { recursive: true, mode: 0o755 })
      return replaceFiles(folder, files)
    },
    // What stands already is not written by this run, so its undo does not take it away.
    note: ({ run }, files) =>
      notes.note(
        run,
        files.filter(({ path, content }) => standing(path) !== hashOf(content)),
      ),
    of: ({ host, parts, entry, isEdited }, listening) => {
      const text = standaloneBlocks(host, parts, isEdited ? undefined : entry, listening)
      if (text === null)
        throw new EdgeFault(
          'changed_elsewhere',
          `What stands for ${host} on edge ${server} serves nothing. Nothing was changed.`,
        )
      const pair = entry?.certificate ? pairs.find(entry.certificate) : undefined
      const files = renderReleased({ host, text, pair }, settings, folder)
      // A released site was adopted again: its file has no server any more, and nothing uses the pair beside it.
      const left = lookAt(folder, releasedFile(host, 'conf'))
      const isLeftOver = left.kind === 'file' && isWithoutSite(left.content.toString())
      for (const { path, content } of files) {
        const found = standing(path)
        if (found !== null && found !== hashOf(content) && !isLeftOver)
          throw new EdgeFault(
            'changed_meanwhile',
            `${placeOf(folder, path)} stands there already. Move it away. Nothing was changed.`,
          )
      }
      return files
    },
    undo: ({ run }: RunName, host) => {
      const written = notes.of(run)
      return (['conf', 'crt', 'key'] as const).flatMap((ending): OutsideFile[] => {
        const path = releasedFile(host, ending)
        const [hash, found] = [written.get(path), standing(path)]
        if (hash === undefined || found === null) return []
        if (found !== hash)
          throw new EdgeFault(
            'changed_elsewhere',
            `${placeOf(folder, path)} was changed outside Drawbridge. It was not overwritten.`,
          )
        return [{ path, content: null, secret: ending === 'key' }]
      })
    },
  }
}

/** How the base file is made and compared. */
function baseOf(
  settings: EdgeSettings,
  listening: () => Promise<Listening>,
): Pick<NginxServerParts, 'base' | 'isSameBase' | 'refused'> {
  return {
    base: async ({ number, folder, files }) => {
      const at = { ...(await listening()), folder: settings.folder }
      const has = (kind: string) =>
        [...files].some(
          (file) =>
            file.startsWith(`${kind}/`) && (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0) > 0,
        )
      return renderBase(at, { number, folder, serves: { http: has('names-http'), https: has('names-https') } })
    },
    isSameBase: (staged) => textOf(join(staged.folder, BASE_FILE)) === textOf(join(settings.folder, BASE_FILE)),
    refused: (refusal) => refusedBase(settings.server, refusal),
  }
}

function textOf(path: string): string {
  try {
    return withoutNumber(readFileSync(path, 'utf8'))
  } catch {
    return ''
  }
}

async function assertLoads(settings: EdgeSettings, nginx: Nginx, signal?: AbortSignal): Promise<void> {
  const refusal = await nginx.test(settings.config, signal)
  if (!refusal) return
  throw new EdgeFault(
    'config_broken',
    refusalText(refusal, `The nginx configuration of edge ${settings.server} is broken`),
  )
}

const logsKeys = (server: string, { path, line }: DebugLog): EdgeFault =>
  new EdgeFault(
    'logs_keys',
    `nginx on edge ${server} is configured to log at debug level (${escapeText(path)}${line === null ? '' : `, line ${line}`}), which ` +
      'writes private keys into its log. Set error_log to another level, remove debug_connection, and reload nginx.',
  )
