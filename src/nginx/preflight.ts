import { join } from 'node:path'
import type { EdgePreflight } from '../edge/contract/edge.ts'
import { EdgeFault } from '../edge/contract/fault.ts'
import { CURRENT } from '../edge/layout.ts'
import type { EdgeMap, EdgeReader, ServedMap } from '../edge/served.ts'
import { isWrittenByUs } from '../estate/layout.ts'
import { readMainFile } from '../estate/reading/main-file.ts'
import type { Refusal } from '../estate/reading/refusal.ts'
import { canonicalAddress } from '../estate/reading/text/listen.ts'
import type { EdgeSettings } from '../estate/settings.ts'
import type { ServedName } from '../model/finding.ts'
import type { Clock } from '../primitives/clock.ts'
import { type Listening, socketsOf } from './config/sockets.ts'
import { PresentGeneration } from './generations/present.ts'
import { commandLineDebugLogs } from './process/debug-logs.ts'
import { listeningReader } from './process/neighbours.ts'
import { testConfiguration } from './process/nginx-program.ts'

/**
 * How long a passed test is valid while no configuration file changes. Other inputs of nginx (certificates outside Drawbridge,
 * DNS names in the configuration) may change unnoticed in this time. An apply always runs the test again.
 */
const PASSED_TEST_TTL_MS = 5 * 60_000

export interface LocalPreflight extends EdgePreflight {
  /** nginx runs the configuration that was on disk at `since` (milliseconds). It needs no test until a file changes. */
  markLoaded(since: number): void
}

/** `test` runs `nginx -t` on the configuration on disk. */
export function edgePreflight(
  settings: EdgeSettings,
  reader: EdgeReader,
  test: () => Promise<Refusal | undefined> = () => testConfiguration(settings, settings.config),
): LocalPreflight {
  const soundness = new ConfigTestCache(test, settings.clock)
  const present = new PresentGeneration(settings.folder)
  const listening = listeningReader(settings)
  return {
    async check(host, tls) {
      try {
        const map = await reader.read()
        const refusal = (await soundness.refusal(map)) ?? (tls ? debugLogOf(map, settings) : undefined)
        if (refusal) return brokenBy(refusal)
        const at = { settings, listening: await listening(), ownPath: present.whereIs(host).file }
        const rival = rivalOf(host, map, at)
        if (rival) return rival
        await readMainFile(settings)
        return present.number === undefined ? { kind: 'unprepared', reason: NO_BASE } : { kind: 'free' }
      } catch (error) {
        const isUnprepared = error instanceof EdgeFault && error.kind === 'unavailable'
        return isUnprepared ? { kind: 'unprepared', reason: error.message } : { kind: 'unknown' }
      }
    },
    markLoaded: (since) => soundness.loaded(since),
  }
}

const NO_BASE = 'Its base file is not written yet.'

const brokenBy = ({ reason, file, line }: Refusal): ServedName => ({
  kind: 'broken',
  reason,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
})

function debugLogOf({ debugLogs }: ServedMap, { pidFile }: EdgeSettings): Refusal | undefined {
  const [log] = [...debugLogs, ...commandLineDebugLogs(pidFile)]
  return log && { reason: LOGS_KEYS, file: log.path, line: log.line ?? undefined }
}

const LOGS_KEYS = 'it is configured to log at debug level, which writes private keys into its log'

/**
 * The server block that would answer instead of an entry for the host, on either port. A name that another block serves only with
 * TLS is taken, too. A default server conflicts only on the address that visitors use. On other addresses, such as the loopback, it
 * answers no request for our names.
 */
function rivalOf(
  host: string,
  map: EdgeMap,
  { settings, listening, ownPath }: { settings: EdgeSettings; listening: Listening; ownPath: string },
): ServedName | undefined {
  const { folder, address, ports } = settings
  // A file with blocks contains the blocks of many hosts. If the host has no block of its own there, its name is in the block of
  // another host.
  const blocks = join(folder, CURRENT, 'blocks/')
  const own = (path: string) => isWrittenByUs(folder, path) && (!path.startsWith(blocks) || path === ownPath)
  const { http, https } = socketsOf(listening)
  const places = [
    ...http.map((socket) => ({ address: socket.address, port: ports.http })),
    ...https.map((socket) => ({ address: socket.address, port: ports.https })),
  ]
  const visited = canonicalAddress(address)
  const isPlace = (at: string, port: number) =>
    places.some((place) => place.port === port && canonicalAddress(place.address) === at)
  const rival = places
    .flatMap((place) => {
      const here = canonicalAddress(place.address)
      // A more specific socket on which our servers listen, too, is checked as a place of its own.
      return map.rivals(host, own, place).filter(({ address: at }) => at === here || !isPlace(at, place.port))
    })
    .find(({ how, address: at }) => how !== 'default' || at === visited)
  if (!rival) return undefined
  const { how } = rival
  return how === 'unknown'
    ? { kind: 'unknown' }
    : { kind: 'taken', how, file: rival.block.configPath, line: rival.block.line }
}

/** Remembers which files nginx has loaded or tested. A failed test is repeated each time: its cause may be outside these files. */
class ConfigTestCache {
  readonly #test: () => Promise<Refusal | undefined>
  readonly #clock: Clock
  #passed: { readonly fingerprint: string; readonly at: number } | undefined
  #loadedSince = Number.NEGATIVE_INFINITY
  #underWay: { readonly fingerprint: string; readonly refusal: Promise<Refusal | undefined> } | undefined

  constructor(test: () => Promise<Refusal | undefined>, clock: Clock) {
    this.#test = test
    this.#clock = clock
  }

  loaded(since: number): void {
    this.#loadedSince = since
  }

  async refusal({ fingerprint, changedAt }: ServedMap): Promise<Refusal | undefined> {
    if (changedAt <= this.#loadedSince) return undefined
    if (this.#passed?.fingerprint === fingerprint && this.#clock.monotonic() - this.#passed.at < PASSED_TEST_TTL_MS)
      return undefined
    if (this.#underWay?.fingerprint !== fingerprint) this.#underWay = { fingerprint, refusal: this.#run(fingerprint) }
    return this.#underWay.refusal
  }

  async #run(fingerprint: string): Promise<Refusal | undefined> {
    try {
      const refusal = await this.#test()
      if (!refusal) this.#passed = { fingerprint, at: this.#clock.monotonic() }
      return refusal
    } finally {
      if (this.#underWay?.fingerprint === fingerprint) this.#underWay = undefined
    }
  }
}
