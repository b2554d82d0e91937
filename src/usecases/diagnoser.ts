import { performance } from 'node:perf_hooks'
import type { Caller } from '../authorize/caller.ts'
import type { Audience } from '../diagnose/audience.ts'
import { type Diagnosis, diagnose } from '../diagnose/diagnose.ts'
import type { FileHash } from '../edge/contract.ts'
import type { EdgeReader } from '../edge/reading/contract.ts'
import type { BadgeFacts } from '../model/badge.ts'
import { Problem } from '../model/errors.ts'
import type { Evidence } from '../model/evidence.ts'
import { Deadline } from '../observe/deadline.ts'
import { type InspectHostParts, inspectHost } from '../observe/host/inspect-host.ts'
import type { Subject } from '../observe/host/subject.ts'
import type { Exposure, ExposureStore } from '../store/ports/exposures.ts'
import type { PlanStore } from '../store/ports/plans.ts'

/** What a diagnosis stands on. Nothing of it can write. */
export interface DiagnoserParts extends InspectHostParts {
  readonly reader: EdgeReader | undefined
  readonly store: Pick<ExposureStore, 'findExposure'> & Pick<PlanStore, 'findPlan'>
  /** What was applied, and may be compared with what stands. */
  readonly filesToCompare: (exposure: Exposure) => readonly FileHash[]
  /** What the monitor knows of the host, as that plan's. */
  readonly known: (host: string, planId: string | null) => BadgeFacts | null
  readonly servers: Audience['servers']
  /** Whether the public may know of hosts that were not made here. */
  readonly showsUnmanaged: boolean
  /** Told what kept a link from being looked at. */
  readonly onFault: (error: unknown, host: string) => void
}

/** All of a diagnosis: an answer is due after five seconds, and has a way to go. */
const LIMIT_MS = 4_300
const SUBJECT_MS = 1_500
const MOST_AT_ONCE = 32

/** The use case: looks at a host now and says what is wrong. */
export class Diagnoser {
  readonly #parts: DiagnoserParts
  readonly #underWay = new Map<string, Promise<Evidence>>()

  constructor(parts: DiagnoserParts) {
    this.#parts = parts
  }

  /** `host` is canonical. Whoever asks for the same host at the same time is told of the same look. */
  async diagnose(host: string, { network }: Pick<Caller, 'network'>): Promise<Diagnosis> {
    if (network === 'public' && !this.#parts.showsUnmanaged && !(await this.#isManaged(host))) throw notFound()
    const evidence = await (this.#underWay.get(host) ?? this.#look(host))
    return diagnose(evidence, { network, servers: this.#parts.servers })
  }

  /** Looks that are under way began before the host was changed: whoever asks from now on is told of a new one. */
  forget(host: string): void {
    this.#underWay.delete(host)
  }

  #look(host: string): Promise<Evidence> {
    if (this.#underWay.size >= MOST_AT_ONCE) {
      throw new Problem('unavailable', 'Too many hosts are being looked at in this moment.', { retryAfter: 2 })
    }
    const look = this.#gather(host).finally(() => {
      if (this.#underWay.get(host) === look) this.#underWay.delete(host)
    })
    this.#underWay.set(host, look)
    return look
  }

  async #gather(host: string): Promise<Evidence> {
    const since = performance.now()
    using deadline = new Deadline(LIMIT_MS, (error) => this.#parts.onFault(error, host))
    const subject = await deadline.within<Subject | undefined | 'late'>(SUBJECT_MS, () => this.#find(host), 'late')
    if (subject === 'late')
      throw new Problem('unavailable', 'The store or the disk does not answer.', { retryAfter: 5 })
    if (!subject) throw notFound()
    const evidence = await inspectHost(this.#parts, subject, deadline, since)
    return { ...evidence, known: this.#parts.known(host, subject.managed?.plan.planId ?? null) }
  }

  /** Asked before the look: a host that is hidden answers like one that is not there, and as fast. */
  async #isManaged(host: string): Promise<boolean> {
    return (await this.#parts.store.findExposure(host)) !== undefined
  }

  async #find(host: string): Promise<Subject | undefined> {
    const { reader, store, filesToCompare } = this.#parts
    const [map, exposure] = await Promise.all([reader?.read(), store.findExposure(host)])
    const plan = exposure && (await store.findPlan(exposure.planId))
    const served = map?.find(host)
    if (!plan && !served) return undefined
    return { host, map, served, managed: plan && { plan, files: filesToCompare(exposure) } }
  }
}

const notFound = (): Problem =>
  new Problem('host_not_found', 'No such host is served by the edge: it is not exposed and may be planned.')
