import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { escapeText } from '../model/escape-text.ts'
import { kernelTime } from '../primitives/clock.ts'
import { filesWithoutSite } from './adopt/find-site.ts'
import { TakenSites } from './adopt/taken-sites.ts'
import {
  BASE_FILE,
  blockFile,
  hostEntry,
  isAdopted,
  isCertificateFile,
  isHost,
  isReleased,
  linesFile,
  parsePath,
  placeOf,
  releasedFile,
  releasedFolder,
} from './config/layout.ts'
import { renderBase, withoutNumber } from './config/render-base.ts'
import { certificateId, keylessCertificates, renderCertificate, renderEntry } from './config/render-certificate.ts'
import { renderReleased } from './config/render-released.ts'
import { blocksFromLines, renderSite } from './config/render-site.ts'
import { type Listening, listensOf } from './config/sockets.ts'
import { type Edge, EdgeFault, type EdgeFile } from './contract.ts'
import {
  certificateRemovals,
  keepUsedCertificates,
  pairInUse,
  unusedCertificates,
} from './files/certificates-in-use.ts'
import { Fences, type FencesOptions } from './files/fences.ts'
import { edgeFileOf, hashOfFound } from './files/files.ts'
import { whileUnowned } from './files/folder-lock.ts'
import { replaceFiles } from './files/replace.ts'
import { type EngineParts, GenerationEngine } from './generations/engine.ts'
import { PresentGeneration, signatureOf } from './generations/present.ts'
import { settleRuns, unsettledRuns } from './generations/unsettled.ts'
import { listeningReader } from './process/neighbours.ts'
import { type Nginx, systemNginx } from './process/nginx.ts'
import { prepareEdge } from './process/prepare.ts'
import { refusedBase } from './process/rehearse.ts'
import { testShadow } from './process/shadow.ts'
import type { DebugLog } from './reading/contract.ts'
import { refusalText } from './reading/refusal.ts'
import type { EdgeSettings } from './settings.ts'

export interface LocalEdgeParts {
  /** Runs `work` while no other process changes this edge. Default: no other process does. */
  readonly exclusive?: EngineParts['exclusive']
  /** This process owns the folder: see `ownFolder`. */
  readonly isOwner?: boolean
  /** Where its servers listen. Default: read from the configuration of nginx. */
  readonly listening?: () => Promise<Listening>
  /** See `Fences`. */
  readonly onIgnoredFence?: FencesOptions['onIgnored']
  /** See `EngineParts`. */
  readonly onForgottenRuns?: EngineParts['onForgottenRuns']
  /** Parts of the program that are replaced. Default: the nginx of this machine. */
  readonly nginx?: Partial<Nginx>
  /** Called after every proven reload with the time at which the reload began. */
  readonly loaded?: ((since: number) => void) | undefined
}

/** An nginx on this machine. */
export function localEdge(settings: EdgeSettings, parts: LocalEdgeParts = {}): Edge {
  const { exclusive = alone, isOwner = false, listening = listeningReader(settings), loaded } = parts
  const nginx: Nginx = { ...systemNginx(settings), ...parts.nginx }
  const { server, folder, clock } = settings
  const present = new PresentGeneration(folder)
  const assertValid = (signal?: AbortSignal) => assertLoads(settings, nginx, signal)
  const assertNoDebugLog = async (): Promise<void> => {
    const [first] = await nginx.debugLogs()
    if (first) throw logsKeys(server, first)
  }
  const locked = <T>(work: () => Promise<T>): Promise<T> => (isOwner ? work() : whileUnowned(folder, server, work))
  const reload = async (signal?: AbortSignal) => {
    const since = kernelTime()
    await nginx.reload(signal)
    loaded?.(since)
  }
  const fences = new Fences(folder, { now: clock.now, onIgnored: parts.onIgnoredFence })
  const sites = new TakenSites(folder, (host, expected) => filesWithoutSite(settings, host, expected))
  const engine = new GenerationEngine({
    folder,
    server,
    present,
    clock,
    fences,
    exclusive: (work) => exclusive((turn) => locked(() => work(turn))),
    assertValid,
    assertNoDebugLog,
    onForgottenRuns: parts.onForgottenRuns,
    reload,
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
    prepareSites: (records) => sites.prepare(records),
    installReleased: (files) => {
      if (files.length > 0) mkdirSync(releasedFolder(folder), { recursive: true, mode: 0o755 })
      return replaceFiles(folder, files)
    },
    ...baseOf(settings, listening),
  })
  const look = (path: string) => {
    parsePath(path)
    return present.look(path)
  }

  return {
    server,
    assertValid,
    assertNoDebugLog,
    change: (proposal) => engine.change(proposal),
    raiseFence: (raised) => fences.claim(raised).record(),
    raiseFloor: (floor) => locked(() => fences.raiseFloor(floor)),
    unsettledRuns: async () => unsettledRuns(folder),
    settleRuns: (runs) => locked(() => settleRuns(folder, runs)),
    tryOut: (files, signal) => engine.tryOut(files, signal),
    forgetTried: () => engine.forgetAhead(),
    async prepare(signal) {
      try {
        const draftFolders = () => sites.folders()
        await prepareEdge(
          settings,
          { present, engine, listening, nginx: { ...nginx, reload }, locked, draftFolders },
          signal,
        )
        engine.whyUnprepared = undefined
      } catch (error) {
        engine.whyUnprepared = error instanceof Error ? error.message : String(error)
        throw error
      }
    },
    ask: (question, signal) => nginx.ask(question, signal),
    foreignListeners: (question, signal) => nginx.foreignListeners(question, signal),
    handshake: (host, signal) => nginx.handshake(host, signal),
    certificateFiles: renderCertificate,
    certificateEntry: renderEntry,
    certificateId,
    keylessCertificates,
    listens: async () => listensOf(await listening()),
    list: async () => present.list(settings.layout ?? 'lines'),
    stray: async () => present.stray(),
    fencesOf: async (hosts) => fences.of(hosts),
    generation: async () => signatureOf(join(folder, BASE_FILE)),
    isCertificateFile,
    unusedCertificates: async () => unusedCertificates(present),
    hashFiles: async (paths) => paths.map((path) => hashOfFound(path, look(path))),
    read: async (paths) => paths.map((path) => edgeFileOf(path, look(path))),
    releasedFiles: async (host, certificate) => {
      const text = standingText(present, host, await listening())
      if (text === null) return []
      return renderReleased({ host, text, pair: certificate ?? pairInUse(present, host) }, settings, folder)
    },
    releasedPath: async (host) => placeOf(folder, releasedFile(host, 'conf')),
    async takenOut(host, planId, expected) {
      const record = sites.record(host, planId, expected)
      return record ? [record] : []
    },
    async filesFor(site) {
      const files = renderSite(site, await listening(), settings.layout ?? 'lines')
      const wanted = new Set(files.map(({ path }) => path))
      const former = [...certificateRemovals(present, site.host), ...absentOf(site.host)]
      return keepUsedCertificates(present, [...files, ...former.filter(({ path }) => !wanted.has(path))])
    },
    async filesWithout(host) {
      if (!isHost(host)) throw new Error(`${escapeText(host)} is not a valid host name.`)
      return keepUsedCertificates(present, [...absentOf(host), ...certificateRemovals(present, host)])
    },
  }
}

const alone: EngineParts['exclusive'] = (work) => work({ assertHeld: () => undefined })

/** The server blocks of a host as they stand. Follows a link that somebody put in the place of a file, as nginx does. */
export function standingText(present: PresentGeneration, host: string, listening: Listening): string | null {
  const block = present.followed(blockFile(host))
  if (block !== null) return block
  const lines = present.followed(linesFile(host))
  return lines === null ? null : blocksFromLines(host, lines, listening)
}

/** A host has one entry, as lines or as a block. */
export const absentOf = (host: string): EdgeFile[] =>
  [linesFile(host), blockFile(host), hostEntry(host)].map((path) => ({ path, content: null, secret: false }))

/** How the base file is made and compared. */
function baseOf(
  settings: EdgeSettings,
  listening: () => Promise<Listening>,
): Pick<EngineParts, 'base' | 'isSameBase' | 'refused'> {
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
