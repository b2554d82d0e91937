import { alertRuleOf, configuredMutes } from '../config/alerts.ts'
import type { Config } from '../config/config.ts'
import { edgeVisitor } from '../edge/visit/visitor.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { fileFact } from '../model/evidence.ts'
import type { Plan } from '../model/exposure.ts'
import type { Minutes } from '../model/history.ts'
import type { FullCheck } from '../model/host-status.ts'
import { recordsOf } from '../model/receipt.ts'
import type { Board } from '../monitor/board.ts'
import { Monitor } from '../monitor/monitor.ts'
import { fileState } from '../observe/host/inspect-edge.ts'
import { derived } from '../primitives/derived.ts'
import { secondaryState } from '../runs/compare-edge.ts'
import type { EdgeAvailability } from '../runs/edge-availability.ts'
import { verifiedAnswer } from '../runs/steps/verify.ts'
import type { Log } from '../runtime/log.ts'
import type { Exposure } from '../store/ports/exposures.ts'
import type { Store } from '../store/ports/store.ts'
import { appliedEntry } from '../usecases/drift.ts'
import { dnsStandingReader, type ReadDnsStanding } from './dns-standing.ts'
import type { EdgeAccesses } from './edges.ts'
import type { RunParts } from './runs.ts'
import type { ZoneClients } from './zone-clients.ts'

interface MonitorSources extends RunParts {
  readonly store: Store
  readonly board: Board
  readonly edges: EdgeAccesses
  readonly clients: ZoneClients
  readonly metrics: Metrics
  readonly minutes: Minutes
  readonly availability: EdgeAvailability
  readonly instance: string
  readonly log: Log
}

/** The monitor of the hosts that the Primary's nginx serves. It compares them with what the store says was applied. */
export function composeMonitor(config: Config, parts: MonitorSources): Monitor {
  const { servers, monitor, instances } = config
  const primary = parts.edges.get(servers.primary)
  return new Monitor({
    ...parts,
    edge: primary && {
      reader: primary.reader,
      environment: {
        addresses: servers.addresses,
        hostPath: primary.environment.hostPath,
        isOurs: primary.environment.isOurs,
        ruleOf: (host) => config.status.hosts.get(host),
        get edge() {
          return primary.environment.edge
        },
      },
    },
    visitor: (primary?.visitor ?? ((limitMs) => edgeVisitor(limitMs, parts.clock)))(monitor.timeoutSeconds * 1000),
    compare: comparer(parts, dnsStandingReader(parts.clients)),
    firstAnswer: verifiedAnswer,
    alertRule: (host) => {
      const rule = alertRuleOf(config.alerts, host)
      return { ...rule, isMuted: rule.isMuted || parts.board.isMuted(host) }
    },
    configuredMutes: derived(() => config.alerts, configuredMutes),
    mayCheck: () => parts.availability.hasPrimary(),
    onCheck: (status) => {
      parts.metrics.check(status)
      if (status.lastCheck) parts.minutes.add(status.host, status.lastCheck)
    },
    everyMs: monitor.everySeconds * 1000,
    atOnce: monitor.atOnce,
    leaseMs: instances.takeOverSeconds * 1000,
  })
}

/** Compares what was applied for a host with DNS and with the Primary's files. */
function comparer(
  { store, primary, secondary }: Pick<MonitorSources, 'store' | 'primary' | 'secondary'>,
  readStanding: ReadDnsStanding,
) {
  /** Null while a run changes the host, and where it cannot be told. */
  const onSecondary = async ({ receipt, runId }: Exposure, plan: Plan): Promise<FullCheck['secondary']> => {
    if (!secondary || !receipt || runId !== undefined) return null
    return secondaryState(secondary, plan, receipt).catch(() => null)
  }
  /** While a run changes the host, it is neither what was applied nor anybody's edit. */
  const fileOf = async ({ host, receipt, runId }: Exposure, plan: Plan): Promise<FullCheck['file']> => {
    if (!primary) return null
    const applied = receipt && runId === undefined ? appliedEntry(plan, receipt) : undefined
    return fileFact(await fileState(primary, host, applied))
  }
  return async (host: string): Promise<Pick<FullCheck, 'dns' | 'file' | 'secondary'>> => {
    const exposure = await store.findExposure(host)
    const plan = exposure && (await store.findPlan(exposure.planId))
    if (!plan) return { dns: null, file: null }
    const [{ records }, file, other] = await Promise.all([
      readStanding(plan, recordsOf(plan, exposure.receipt)),
      fileOf(exposure, plan),
      onSecondary(exposure, plan),
    ])
    if (file !== 'edited') return { dns: records, file, secondary: other ?? null }
    // A run or a renewal may have written the file after the store was read.
    const later = await store.findExposure(host)
    return {
      dns: records,
      file: later && later.planId === plan.planId ? await fileOf(later, plan) : null,
      secondary: other ?? null,
    }
  }
}
