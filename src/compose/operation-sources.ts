import { livePause } from '../certificates/budget/budget.ts'
import type { Config } from '../config/config.ts'
import type { OperationSources } from '../metrics/operation-gauges.ts'
import type { Clock } from '../primitives/clock.ts'
import type { EdgeAvailability } from '../runs/edge-availability.ts'
import type { EdgePreparation } from '../runs/edge-preparation.ts'
import type { EdgeStandings } from '../runs/edge-standings.ts'
import { freeBytes } from '../runtime/disk.ts'
import { VERSION } from '../runtime/version.ts'
import type { Store } from '../store/ports/store.ts'
import type { ZoneClients } from './zone-clients.ts'

export interface OperationParts {
  readonly store: Store
  readonly clients: ZoneClients
  readonly standings: EdgeStandings
  readonly availability: EdgeAvailability
  readonly preparation: EdgePreparation
  readonly clock: Clock
}

/** What the metrics tell of this installation. */
export function operationSources(config: Config, sources: OperationParts): OperationSources {
  const { store, clients, standings, availability, preparation, clock } = sources
  const { servers, stateDir, acme, edges } = config
  const names = [servers.primary, servers.secondary].filter((server) => server !== undefined)
  return {
    version: VERSION,
    runs: async () => {
      const [unfinished, unsettled] = await Promise.all([store.unfinishedRuns(), store.unsettledRunIds()])
      const running = new Set(unfinished.map(({ runId }) => runId))
      return {
        unfinishedSince: unfinished.map(({ startedAt }) => startedAt),
        blocked: unsettled.filter((runId) => !running.has(runId)).length,
      }
    },
    edges: async () => {
      const answering = await availability.servers()
      const behind = new Set(standings.all.flatMap(({ server, outOfStep }) => (outOfStep ? [server] : [])))
      return names.map((server) => ({
        server,
        ready: answering.includes(server) && preparation.isPrepared(server),
        inStep: !behind.has(server),
      }))
    },
    failingRenewals: async () => (await store.listRenewals()).filter(({ failures }) => failures > 0).length,
    authorityPausedUntil: async () => {
      const { newOrders, everything } = livePause(await store.authorityPause(acme.directory), clock.now())
      return Math.max(newOrders, everything)
    },
    clockOffsets: () => clients.clockOffsets,
    freeBytes: async () => {
      const folders = [['state', stateDir], ...names.flatMap((server) => edgeFolder(server, edges[server]?.folder))]
      const free = await Promise.all(folders.map(async ([what = '', folder = '']) => [what, await freeBytes(folder)]))
      return Object.fromEntries(free.filter(([, bytes]) => bytes !== undefined))
    },
    pingStore: () => store.ping(),
    lastBackupAt: () => store.lastBackupAt(),
    clock,
  }
}

const edgeFolder = (server: string, folder: string | undefined): string[][] =>
  folder === undefined ? [] : [[`edge ${server}`, folder]]
