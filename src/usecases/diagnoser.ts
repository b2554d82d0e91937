import type { Caller } from '../authorize/caller.ts'
import type { Audience } from '../diagnose/audience.ts'
import { type Diagnosis, diagnose } from '../diagnose/diagnose.ts'
import type { Difference } from '../diagnose/drift.ts'
import type { EdgeReader, ServedMap } from '../edge/served.ts'
import type { BadgeFacts } from '../model/badge.ts'
import { Problem } from '../model/errors.ts'
import type { Evidence, ExposureEvidence } from '../model/evidence.ts'
import { recordsOf } from '../model/receipt.ts'
import { Deadline } from '../observe/deadline.ts'
import { type InspectHostParts, inspectHost } from '../observe/host/inspect-host.ts'
import type { Subject } from '../observe/host/subject.ts'
import type { Exposure, ExposureStore } from '../store/ports/exposures.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import { appliedEntry } from './drift.ts'

/** What a diagnosis reads. None of these parts can write. */
export interface DiagnoserParts extends InspectHostParts {
  readonly reader: EdgeReader<ServedMap> | undefined
  readonly store: Pick<ExposureStore, 'findExposure'> & Pick<PlanStore, 'findPlan'>
  /** What the monitor knows of the host, or null when it knows the host under another plan. */
  readonly known: (host: string, planId: string | null) => BadgeFacts | null
  /** Compares an applied plan with files, zone and certificate. */
  readonly drift: (planId: string) => Promise<readonly Difference[]>
  readonly servers: Audience['servers']
  readonly configFile: Audience['configFile']
  /** Whether public callers may see a host that Drawbridge did not create. */
  readonly showsUnmanaged: (host: string) => boolean
  /** The path that checks of such a host request. Undefined: `/`. */
  readonly probePath: (host: string) => string | undefined
  /** Called with the error of a check that failed. The diagnosis continues without that check. */
  readonly onFault: (error: unknown, host: string) => void
}

/** The time for a whole diagnosis. The caller gets its answer within five seconds, with a reserve for the transport. */
const LIMIT_MS = 4_300
const SUBJECT_MS = 1_500
/** A little longer than the limit of the DNS reader. */
const DRIFT_MS = 2_700
const MAX_CONCURRENT = 32

/** Inspects a host now and finds the cause of its fault. */
export class Diagnoser {
  readonly #parts: DiagnoserParts
  readonly #underWay = new Map<string, Promise<Evidence>>()

  constructor(parts: DiagnoserParts) {
    this.#parts = parts
  }

  /** `host` is canonical. Concurrent calls for the same host share one inspection. */
  async diagnose(host: string, { network }: Pick<Caller, 'network'>): Promise<Diagnosis> {
    if (network === 'public' && !this.#parts.showsUnmanaged(host) && !(await this.#isManaged(host))) throw notFound()
    const evidence = await (this.#underWay.get(host) ?? this.#inspect(host))
    const { servers, configFile } = this.#parts
    return diagnose(evidence, { network, servers, configFile })
  }

  /**
   * Call this after a change of the host. Later calls of `diagnose` do not share an inspection that began before the
   * change.
   */
  forget(host: string): void {
    this.#underWay.delete(host)
  }

  #inspect(host: string): Promise<Evidence> {
    if (this.#underWay.size >= MAX_CONCURRENT) {
      throw new Problem('unavailable', 'Too many hosts are being diagnosed at the same time.', { retryAfter: 2 })
    }
    const inspection = this.#gather(host).finally(() => {
      if (this.#underWay.get(host) === inspection) this.#underWay.delete(host)
    })
    this.#underWay.set(host, inspection)
    return inspection
  }

  async #gather(host: string): Promise<Evidence> {
    const { clock, onFault } = this.#parts
    const since = clock.monotonic()
    using deadline = new Deadline(LIMIT_MS, (error) => onFault(error, host), clock)
    const subject = await deadline.within<Subject | undefined | 'late'>(SUBJECT_MS, () => this.#find(host), 'late')
    if (subject === 'late') throw noAnswer()
    if (!subject) throw notFound()
    const [evidence, exposure] = await Promise.all([
      inspectHost(this.#parts, subject, deadline, since),
      this.#exposureOf(subject, deadline),
    ])
    return { ...evidence, exposure, known: this.#parts.known(host, subject.managed?.plan.planId ?? null) }
  }

  async #exposureOf({ managed }: Subject, deadline: Deadline): Promise<ExposureEvidence | null> {
    if (!managed) return null
    const { plan, state, renews } = managed
    const differences =
      state === 'applied' ? await deadline.attempt(DRIFT_MS, () => this.#differencesOf(plan.planId), null) : null
    return { planId: plan.planId, state, renews, differences }
  }

  /** Null when the comparison is refused, for example because the DNS server gives no certain answer. */
  async #differencesOf(planId: string): Promise<readonly Difference[] | null> {
    return this.#parts.drift(planId).catch((refusal: unknown) => {
      if (refusal instanceof Problem) return null
      throw refusal
    })
  }

  /** Checked before the inspection, so that a hidden host gets the same answer as a missing one, and as fast. */
  async #isManaged(host: string): Promise<boolean> {
    return (await this.#parts.store.findExposure(host)) !== undefined
  }

  async #find(host: string): Promise<Subject | undefined> {
    const { reader, store } = this.#parts
    const reading = reader?.read().catch((error: unknown) => {
      this.#parts.onFault(error, host)
      throw noAnswer()
    })
    const [map, exposure] = await Promise.all([reading, store.findExposure(host)])
    const plan = exposure && (await store.findPlan(exposure.planId))
    const served = map?.find(host)
    if (!plan && !served) return undefined
    return {
      host,
      map,
      served,
      probePath: this.#parts.probePath(host),
      managed: plan && {
        plan,
        state: exposureState(exposure),
        renews: exposure.receipt?.certificate?.ours ?? false,
        entry: exposure.receipt && exposure.runId === undefined ? appliedEntry(plan, exposure.receipt) : undefined,
        records: recordsOf(plan, exposure.receipt),
      },
    }
  }
}

/** A run that leaves the exposure applied, such as a repair, holds it as well. */
const exposureState = ({ state, runId }: Exposure): ExposureEvidence['state'] =>
  state === 'blocked' ? 'blocked' : state === 'applied' && runId === undefined ? 'applied' : 'busy'

const noAnswer = (): Problem => new Problem('unavailable', 'The store or the disk does not answer.', { retryAfter: 5 })

const notFound = (): Problem => new Problem('host_not_found', 'The edge does not serve this host.')
