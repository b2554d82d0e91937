import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from 'node:tls'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission } from '../authorize/admission.ts'
import type { Config } from '../config/config.ts'
import type { App } from '../http/app.ts'
import { reloadOnChange } from '../http/certificate-reload.ts'
import { formatEndpoint } from '../model/address.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'
import { acceptsAdminToken } from '../usecases/policy.ts'

/** The assembled service, ready to listen. */
export interface Service {
  readonly app: App
  readonly store: Store
  readonly trail: AuditTrail
  readonly admission: Admission
  readonly upkeep: Upkeep
  readonly monitor: { start(): void; stop(): Promise<void> }
  readonly deliverer: { start(): void; stop(): Promise<void> }
  readonly log: Log
}

/** What the service does by itself, beside answering. */
interface Upkeep {
  /** Once, before anything is answered: base files on the edges, runs that were left behind, a look at what differs. */
  begin(): Promise<void>
  /** Runs whose instance is gone. */
  recover(): Promise<unknown>
  /** Exposures whose life is over. */
  expire(): Promise<void>
  /** Certificates in use that are due, replaced by hand, or left half-way. */
  renew(): Promise<unknown>
  /** Whether an edge logs private keys. */
  lookAtLogs(): Promise<void>
  /** Waits for the runs and renewals under way. */
  drain(limitMs: number): Promise<void>
}

const FLUSH_MS = 5_000
const PRUNE_MS = 3_600_000
const RECOVER_MS = 10_000
const EXPIRE_MS = 2_000
const LOG_LEVELS_MS = 5_000
/** How long runs under way may take to end once we were told to. What takes longer is taken up again at the next start. */
const DRAIN_MS = 25_000
const CLOSE_MS = 5_000
/** After the signal the process ends at this time whatever still hangs: recovery at the next start does the rest. */
const LAST_MS = DRAIN_MS + 2 * CLOSE_MS
const DAY_MS = 86_400_000

/** Listens until SIGTERM or SIGINT; then refuses new requests, finishes those under way, and ends. */
export async function serve(service: Service, config: Config): Promise<void> {
  const { app, store, trail, upkeep, monitor, deliverer, log } = service
  await upkeep.begin()
  // Before the listener closes: who comes while runs end is told so, not turned away at the door.
  app.addHook('preClose', () => upkeep.drain(DRAIN_MS))
  await app.listen({ host: config.listen.address, port: config.listen.port })
  warnOfOpenDoors(config, log)
  monitor.start()
  deliverer.start()
  const { tls } = config.listen
  const stopWatching = tls ? reloadOnChange(app.server as unknown as Server, tls, log) : () => undefined
  const loops = [
    every(FLUSH_MS, log, () => trail.flush(Date.now())),
    every(PRUNE_MS, log, () => pruneOld(store, config, Date.now())),
    every(RECOVER_MS, log, () => upkeep.recover()),
    every(EXPIRE_MS, log, () => upkeep.expire()),
    every(LOG_LEVELS_MS, log, () => upkeep.lookAtLogs()),
    every(config.renewal.checkEverySeconds * 1000, log, () => upkeep.renew()),
  ]
  log.info(
    { address: `${tls ? 'https' : 'http'}://${formatEndpoint(config.listen)}`, flow: config.flow },
    'Drawbridge listens',
  )
  const signal = await endSignal()
  log.info({ signal }, 'Drawbridge ends: requests under way are finished, new ones refused')
  endWithin(LAST_MS, log)
  stopWatching()
  for (const stop of loops) stop()
  // A connection that never ends does not keep the service alive: what is left is taken up at the next start.
  await Promise.race([
    Promise.all([app.close(), monitor.stop(), deliverer.stop()]),
    sleep(DRAIN_MS + CLOSE_MS, undefined, { ref: false }),
  ])
  await trail.finish(Date.now())
  await store.close()
  endWithin(CLOSE_MS, log)
}

function warnOfOpenDoors(config: Config, log: Log): void {
  if (config.flow === 'legacy') log.warn('The legacy flow is in force: callers inside apply without a credential')
  if (config.flow === 'capability' && acceptsAdminToken(config)) {
    log.warn('The administrator token is accepted on the internal network in place of a capability')
  }
  if (config.adminToken === 'internal' && !config.adminTokenValue) {
    log.warn('adminToken is internal, but no token is configured: none will be accepted')
  }
  if (config.internalNetworks.length === 0) log.warn('internalNetworks is empty: nobody may apply or remove')
}

function pruneOld(store: Store, { retention }: Config, now: number): Promise<void> {
  const plansBefore = now - retention.planDays * DAY_MS
  const auditBefore = now - retention.auditDays * DAY_MS
  const eventsBefore = now - retention.eventDays * DAY_MS
  return store.prune({ plansBefore, auditBefore, eventsBefore, now })
}

/** Runs `work` again and again, never twice at once; a failure is logged and the next turn tries anew. */
function every(intervalMs: number, log: Log, work: () => Promise<unknown>): () => void {
  let stopped = false
  let timer: NodeJS.Timeout
  const turn = async () => {
    await work().catch((error: unknown) => log.error({ err: error }, 'Housekeeping failed; it will be tried again'))
    if (!stopped) timer = setTimeout(turn, intervalMs)
  }
  timer = setTimeout(turn, intervalMs)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** A run, a store or a connection that hangs must not keep the process alive: its leases would be renewed without end. */
function endWithin(limitMs: number, log: Log): void {
  const end = () => {
    log.error(
      { event: 'shutdown_overdue', seconds: limitMs / 1000 },
      'Shutdown did not finish in time; ending now. Runs under way are recovered at the next start',
    )
    process.exit(1)
  }
  setTimeout(end, limitMs).unref()
}

function endSignal(): Promise<string> {
  return new Promise((end) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(signal))
  })
}
