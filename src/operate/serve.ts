import type { Server } from 'node:tls'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission } from '../authorize/admission.ts'
import type { Config } from '../config/config.ts'
import type { App } from '../http/app.ts'
import { reloadOnChange } from '../http/certificate-reload.ts'
import { formatEndpoint } from '../model/address.ts'
import type { Clock } from '../primitives/clock.ts'
import type { DutyName, DutyReport } from '../runs/duties.ts'
import { every, type RegularWork, startLoops } from '../runs/loops.ts'
import { endWithin, ownProcess } from '../runtime/ending.ts'
import { listenWhenThere } from '../runtime/listen.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'
import { acceptsAdminToken } from '../usecases/policy.ts'
import { type OperationParts, perform } from './control/operations.ts'
import { listenForCommands } from './control/server.ts'
import type { Presence } from './presence.ts'
import type { Reloader } from './reload.ts'

/** The assembled service, ready to listen. */
export interface Service {
  readonly app: App
  readonly store: Store
  readonly trail: AuditTrail
  readonly admission: Admission
  readonly housekeeping: Housekeeping
  readonly monitor: { start(): void; stop(): Promise<void> }
  readonly webhookSender: { start(): void; stop(): Promise<void> }
  /** Undefined on a store that belongs to this instance alone. */
  readonly presence: Pick<Presence, 'begin' | 'stop'> | undefined
  /** What is read while the database is lost. Undefined on a store that belongs to this instance alone. */
  readonly lastKnown: { start(): void; stop(): Promise<void> } | undefined
  readonly log: Log
  readonly clock: Clock
}

/** The work that the service does without a request. */
interface Housekeeping extends RegularWork {
  /** Called once, before the first request: writes base files on the edges, recovers interrupted runs, finds differences. */
  begin(): Promise<void>
  /** Takes up the runs that were begun for another instance. */
  takeUp(): Promise<void>
  /** Runs a duty now and says what it did. Never rejects. */
  perform(name: DutyName): Promise<DutyReport>
  /** Waits for running runs and renewals. */
  drain(limitMs: number): Promise<void>
}

/** Instances are notified of runs to take up. This poll finds missed ones. */
const TAKE_UP_MS = 1_000
/** How long shutdown waits for running runs. The next start recovers a run that takes longer. */
const DRAIN_MS = 25_000
const CLOSE_MS = 5_000
/** The process ends this long after the signal, even if something hangs. The next start recovers the rest. */
const SHUTDOWN_MS = DRAIN_MS + 2 * CLOSE_MS

/** Listens until SIGTERM or SIGINT. SIGHUP reloads the configuration. At the end it refuses new requests, finishes running ones and returns. */
export async function serve(service: Service & OperationParts, config: Config, reloader: Reloader): Promise<void> {
  const { app, store, trail, housekeeping, monitor, webhookSender, presence, lastKnown, log, clock } = service
  const lost = Promise.withResolvers<string>()
  reloader.start()
  // Before recovery: a process with the name of another instance must not take up its runs.
  await presence
    ?.begin(() => lost.resolve('the loss of its name'))
    .catch(async (error: unknown) => {
      await store.close()
      throw error
    })
  await housekeeping.begin()
  const control = await listenForCommands(config.stateDir, {
    perform: housekeeping.perform,
    reload: async () => reloader.reload(),
    operate: (name, args) => perform(name, args, service),
    log,
    clock,
  }).catch(async (error: unknown) => {
    await presence?.stop()
    await store.close()
    throw error
  })
  // Runs end before the listener closes, so that callers get an answer (503) during this time.
  app.addHook('preClose', () => housekeeping.drain(DRAIN_MS))
  const stopping = new AbortController()
  await listen(service, config, { signal: stopping.signal, onFault: () => lost.resolve('the loss of its port') })
  warnAboutAccess(config, log)
  monitor.start()
  webhookSender.start()
  lastKnown?.start()
  const { tls } = config.listen
  const stopWatching = tls ? reloadOnChange(app.server as unknown as Server, tls, log) : () => undefined
  const { takeOverSeconds } = config.instances
  const loops = { takeOverSeconds, renewEverySeconds: config.renewal.checkEverySeconds }
  const stopLoops = [startLoops(service, loops), ...(presence ? [takeUpRuns(service)] : [])]
  const signal = await Promise.race([ownProcess.ended(), lost.promise])
  if (signal !== 'SIGTERM' && signal !== 'SIGINT') process.exitCode = 1
  log.info(
    { event: 'shutdown_started', signal },
    'Drawbridge is shutting down; running requests are finished, new requests are refused.',
  )
  // Otherwise a hanging process would renew its leases for ever.
  endWithin(SHUTDOWN_MS, { log, clock, exit: ownProcess.exit })
  stopping.abort()
  reloader.stop()
  stopWatching()
  for (const stop of stopLoops) stop()
  control.close()
  // An open connection must not keep the service alive. The next start recovers unfinished runs.
  await Promise.race([
    Promise.all([app.close(), monitor.stop(), webhookSender.stop(), lastKnown?.stop()]),
    clock.sleep(DRAIN_MS + CLOSE_MS, { ref: false }),
  ])
  await trail.finish(clock.now())
  await presence?.stop()
  await store.close()
  endWithin(CLOSE_MS, { log, clock, exit: ownProcess.exit })
}

/** Renewals and all other work go on while the machine does not have the address. */
async function listen(
  { app, log, clock }: Service,
  { listen: { address: host, port, tls }, flow }: Config,
  { signal, onFault }: { readonly signal: AbortSignal; readonly onFault: () => void },
): Promise<void> {
  const address = `${tls ? 'https' : 'http'}://${formatEndpoint({ address: host, port })}`
  await listenWhenThere(() => app.listen({ host, port }), {
    ...{ clock, signal },
    onListening: () => log.info({ event: 'service_started', address, flow }, `Drawbridge listens on ${address}.`),
    onMissing: () =>
      log.warn(
        { event: 'listen_address_missing', address: host },
        `This machine does not have the address ${host} of listen.address. Drawbridge does its other work, and listens as soon as it has.`,
      ),
    onFault: (error) => {
      log.error({ event: 'listen_failed', err: error, address }, `Drawbridge cannot listen on ${address}.`)
      onFault()
    },
  })
}

/** Takes up runs of other instances when it is notified of them, and periodically. */
function takeUpRuns(service: Service): () => void {
  const { store, housekeeping } = service
  const { takeUp } = housekeeping
  const stopWatching = store.watch(() => void takeUp().catch(() => undefined))
  const stopLooking = every(TAKE_UP_MS, service, takeUp)
  return () => {
    stopWatching()
    stopLooking()
  }
}

function warnAboutAccess(config: Config, log: Log): void {
  if (config.flow === 'legacy') {
    log.warn(
      { event: 'legacy_flow' },
      'The legacy flow is configured; callers on the internal network apply without a credential.',
    )
  }
  if (config.flow === 'capability' && acceptsAdminToken(config)) {
    log.warn(
      { event: 'admin_token_accepted' },
      'The administrator token is accepted on the internal network instead of a capability.',
    )
  }
  if (config.adminToken === 'internal' && !config.adminTokenValue) {
    log.warn(
      { event: 'admin_token_missing' },
      'adminToken is internal, but no token is configured; every administrator token is refused.',
    )
  }
  if (config.internalNetworks.length === 0) {
    log.warn({ event: 'no_internal_network' }, 'internalNetworks is empty; no caller can apply or remove.')
  }
}
