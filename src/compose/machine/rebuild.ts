import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { secretsOf } from '../../config/secrets.ts'
import { zoneOf } from '../../config/zones.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { Entry } from '../../edge/record/entry.ts'
import { targetUrl } from '../../edge/record/entry.ts'
import { proofOf } from '../../edge/record/proof.ts'
import { hostLease } from '../../model/run.ts'
import {
  type Findings,
  lookAtWorld,
  type RebuildOptions,
  type RebuildParts,
  type RebuildReport,
} from '../../operate/keep/rebuild.ts'
import type { Adoption, FoundEntry } from '../../operate/keep/rebuilt-exposure.ts'
import { servedCertificate } from '../../operate/keep/served-certificate.ts'
import { resolveRequest } from '../../plan/desired.ts'
import { stepsToApply } from '../../plan/steps.ts'
import { systemClock } from '../../primitives/clock.ts'
import { createLog } from '../../runtime/log.ts'
import { withTemporaryFolder } from '../../runtime/temporary-folder.ts'
import { openStore, raiseEpoch, schemaVersion } from '../../store/open.ts'
import type { ExposureStore } from '../../store/ports/exposures.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import { type Assembly, assemble } from '../assemble.ts'
import { planSettings } from '../observe.ts'
import { settingOf } from '../open-store.ts'
import { entryOf, highestLocalEpoch, holdingState } from './keep.ts'

const PATIENCE_MS = 15_000

/**
 * Looks at the world and, if that is confirmed, enters what was found into the store, which is created where it is missing. No service
 * may run on it. Until it is confirmed nothing is written.
 */
export async function rebuildFrom(config: Config, options: RebuildOptions): Promise<RebuildReport> {
  return holdingState(config, async () => {
    const found = await withLook(config, options)
    if (!(await options.confirm(found)) || found.adoptions.length === 0) return { ...found, epoch: undefined }
    return { ...found, epoch: await enter(config, found) }
  })
}

/** The look needs a store that is open. Where there is none, one is made for the time of the look, in a folder of its own. */
async function withLook(config: Config, options: RebuildOptions): Promise<Findings> {
  const look = async (looking: Config, upgrade: boolean) => {
    const claim = { name: 'console', process: 'console', release: () => undefined }
    const parts = await assemble(looking, createLog('silent', secretsOf(config)), { claim, upgrade })
    return lookAtWorld(worldOf(config, parts), options).finally(() => parts.store.close())
  }
  // A store of another schema version is refused: only the service upgrades one.
  if ((await schemaVersion(settingOf(config))) > 0) return look(config, false)
  return withTemporaryFolder((folder) => {
    const store = { kind: 'sqlite', file: join(folder, 'drawbridge.db') } as const
    return look({ ...config, store, storeKeyFile: join(folder, 'store.key') }, true)
  })
}

/** One transaction: everything that was found, or nothing. Resolves with the epoch of the store. */
async function enter(config: Config, { adoptions, left, store: storeId }: Findings): Promise<number> {
  const store = await openStore(settingOf(config))
  try {
    const told = Math.max(highestLocalEpoch(config), ...adoptions.map(({ epoch }) => epoch ?? 0))
    const epoch = await raiseEpoch(settingOf(config), told, storeId)
    const since = systemClock.now()
    await store.transaction(async (session) => {
      for (const adoption of adoptions) await enterHost(adoption, since, session)
      for (const { host, plan, guessed } of adoptions) {
        const { planId, request } = plan
        const facts = { server: request.server, port: request.port, tls: request.tls, guessed: guessed.join(', ') }
        await session.appendAudit({ ...entryOf('rebuild', facts), host, planId })
      }
      await session.appendAudit(entryOf('rebuild', { adopted: adoptions.length, left: left.length, epoch }))
    })
    return epoch
  } finally {
    await store.close()
  }
}

/** The next run of the host gets a higher number than its edges tell: they have nothing that is newer than this store. */
export async function enterHost(
  { host, plan, receipt, expiresAt, number }: Pick<Adoption, 'host' | 'plan' | 'receipt' | 'expiresAt' | 'number'>,
  since: number,
  session: PlanStore & ExposureStore & LeaseStore,
): Promise<void> {
  const { planId } = plan
  await session.insertPlan(plan)
  await session.raiseLastFences([hostLease(host)], number)
  const found = { host, planId, state: 'applied', since, receipt, expiresAt } as const
  await session.insertExposure({ ...found, fence: 0, unconfirmed: 'edges' })
}

/** What a look uses of the service. None of it changes an edge or a zone. */
function worldOf(config: Config, parts: Assembly): RebuildParts {
  const settings = planSettings(config)
  const edges = [parts.primary, parts.secondary].flatMap((edge) => edge ?? [])
  const edgeOf = (server: string): Edge => {
    const edge = edges.find((each) => each.server === server)
    if (!edge) throw new Error(`Edge ${server} is not configured.`)
    return edge
  }
  return {
    entries: async () => {
      const silent: string[] = []
      const lists = edges.map((edge) =>
        entriesOn(edge).catch((error: unknown) => {
          if (edge === parts.primary) throw error
          silent.push(edge.server)
          return []
        }),
      )
      return { lists: await Promise.all(lists), silent }
    },
    storeId: async () => {
      const [first] = await parts.store.listExposures({ after: '', limit: 1 })
      return first && parts.store.storeId()
    },
    isKnown: async (host, planId) =>
      (await parts.store.findExposure(host)) !== undefined || (await parts.store.findPlan(planId)) !== undefined,
    records: async (host) =>
      parts.readSets(
        zoneOf(config.zones, host)?.name ?? '',
        [host, `_drawbridge.${host}`],
        systemClock.timeout(PATIENCE_MS),
      ),
    backendOf: (target) => backendOf(config, target),
    zoneOf: (host) => {
      const zone = zoneOf(config.zones, host)?.name
      return zone === undefined ? undefined : { zone, subdomain: host.slice(0, -zone.length - 1) }
    },
    resolve: (request) => {
      const { request: canonical, url } = resolveRequest(request, settings)
      const { ttl, publish } = settings.zones.get(canonical.zone) ?? { ttl: 60, publish: [] }
      return { request: canonical, url, published: publish, ttl }
    },
    certificateOf: (entry) =>
      servedCertificate(entry, { edge: edgeOf(entry.edge), inventory: parts.inventory, now: systemClock.now() }),
    healthOf: (entry) => healthOf(edgeOf(entry.edge), entry),
    steps: (tls) => stepsToApply(tls, [], settings.challenge),
    now: systemClock.now,
  }
}

async function entriesOn(edge: Edge): Promise<readonly FoundEntry[]> {
  const { hosts } = await edge.list()
  return hosts.map(({ host, entry, fence, drift }) => ({
    host,
    edge: edge.server,
    record: entry && drift.length === 0 ? recordIn(entry) : undefined,
    certificate: entry?.certificate ?? undefined,
    epoch: fence?.epoch,
    number: fence?.number ?? 0,
    store: fence?.store,
  }))
}

function recordIn({ plan, targets, certificate, options, proof, health, owner, note }: Entry): FoundEntry['record'] {
  const [target, ...further] = targets
  return {
    ...{ planId: plan, tls: certificate !== null, health, owner, note, proof: proofOf(proof) },
    target: targetUrl(target),
    ...(further.length > 0 && { furtherTargets: further.map(targetUrl) }),
    ...(options && { options }),
  }
}

function backendOf({ servers }: Config, target: string): { server: string; port: number } | undefined {
  const { hostname, port, protocol } = new URL(target)
  const address = hostname.replace(/^\[|\]$/g, '')
  const server = servers.targets.find((id) => servers.addresses[id] === address)
  return server === undefined ? undefined : { server, port: Number(port || (protocol === 'https:' ? 443 : 80)) }
}

const USUAL_PATHS = ['/healthz', '/health', '/'] as const

async function healthOf(edge: Edge, { host, record }: FoundEntry): Promise<string> {
  for (const path of USUAL_PATHS) {
    const answer = await edge
      .ask({ host, path, tls: record?.tls ?? false }, systemClock.timeout(PATIENCE_MS))
      .catch(() => undefined)
    if (answer?.kind === 'answer' && answer.httpStatus >= 200 && answer.httpStatus < 300) return path
  }
  return '/'
}
