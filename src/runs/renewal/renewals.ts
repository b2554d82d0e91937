import { dueAt } from '../../certificates/budget/renewal-schedule.ts'
import type { CertificateFinding } from '../../certificates/contract.ts'
import { Fault, Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import type { Renewal } from '../../model/ledger.ts'
import type { Afters, ChosenCertificate } from '../../model/receipt.ts'
import { BY_SCHEDULE, type Origin, type RunTask } from '../../model/run.ts'
import { eachExposure } from '../../store/ports/exposures.ts'
import type { StoreSession } from '../../store/ports/store.ts'
import { assertState } from '../engine/begin.ts'
import type { RunResult } from '../engine/ending.ts'
import type { Runs } from '../engine/runs.ts'
import type { StepParts } from '../steps/context.ts'
import { type Covering, type Line, linesOf, successors, type Use, useOf } from './certificate-uses.ts'
import { type RenewalStateParts, RenewalStates } from './renewal-states.ts'

export interface RenewalParts extends RenewalStateParts, Pick<StepParts, 'primary'> {
  readonly runs: Runs
}

/** Hosts of one certificate that get the same new one, and what the run is told. */
interface Choice {
  readonly hosts: readonly Use[]
  readonly task: RunTask
}

/** The hosts that got a new certificate, and the certificates that could not be renewed, by their names. */
export interface Renewed {
  readonly hosts: readonly string[]
  readonly failed: readonly string[]
}

const AT_ONCE = 4

/**
 * Checks every certificate in use and begins a run where one is needed: a certificate that is due is renewed, and a newer one in the
 * folders is served. The state is in the store, the folders and the edges; in memory are only attempts that must not be repeated
 * within a pause.
 */
export class Renewals {
  readonly #parts: RenewalParts
  readonly #states: RenewalStates
  /** By the certificate in use: the better ones that could not be put in its place. */
  readonly #refused = new Map<string, Set<string>>()
  /** What the reconcile under way has done. There are never two at once. */
  #done = { hosts: [] as string[], failed: new Set<string>() }
  #underWay: Promise<Renewed> | undefined
  #told = ''

  constructor(parts: RenewalParts) {
    this.#parts = parts
    this.#states = new RenewalStates(parts)
  }

  /** Checks all certificates, never twice at the same time. A certificate that cannot be renewed yet delays no other one. */
  reconcile(): Promise<Renewed> {
    this.#underWay ??= this.#reconcileOnce().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Waits for the reconcile that is under way, at most `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    await Promise.race([this.#underWay, this.#parts.clock.sleep(limitMs, { ref: false })])
  }

  /**
   * Begins a renewal by request, due or not: a better certificate of the folders is served, or else one is ordered within the
   * order budget. All hosts that share the certificate get the new one. `prove` checks the right in the first transaction.
   * `handsOver`: another instance executes the run.
   */
  async request(plan: Plan, prove: Prove, handsOver: boolean): Promise<Started> {
    return this.#begin(plan, await this.#chooseFor(plan.host), prove, handsOver)
  }

  async #chooseFor(host: string): Promise<Choice | Problem> {
    const line = linesOf(await this.#uses()).find(({ hosts }) => hosts.some((use) => use.host === host))
    const use = line?.hosts.find((each) => each.host === host)
    if (!line || !use) return noCertificate(host)
    const covering = await this.#covering(line)
    const better = successors([use], covering)[0]?.certificate
    if (better) {
      const served = line.hosts.filter((other) => covering.get(other.host)?.fingerprint === better.fingerprint)
      return { hosts: served, task: {} }
    }
    if (!use.certificate.ours) return placedByHand(host)
    const renewal = await this.#parts.store.findRenewal(use.certificate.fingerprint)
    return { hosts: line.hosts, task: ordering(renewal) }
  }

  /** The first transaction of a renewal. The run has the plan of one host and claims all of them. */
  async #begin(plan: Plan, choice: Choice | Problem, prove: Prove, handsOver = false): Promise<Started> {
    const { store, runs } = this.#parts
    const begun = await store.transaction(async (session) => {
      const origin = await prove(session)
      await assertState('renew', plan, session)
      if (choice instanceof Problem) throw choice
      const members = choice.hosts.filter(({ host }) => host !== plan.host)
      return runs.begin({ action: 'renew', plan, task: choice.task, members, origin, handsOver }, session)
    })
    return { plan, result: runs.start(begun) }
  }

  async #reconcileOnce(): Promise<Renewed> {
    this.#done = { hosts: [], failed: new Set() }
    await this.#tellFindings()
    const hosts = await this.#uses()
    const waiting = linesOf(hosts)
    const used = waiting.map(({ certificate }) => certificate.fingerprint)
    for (const fingerprint of this.#refused.keys()) if (!used.includes(fingerprint)) this.#refused.delete(fingerprint)
    const known = await this.#states.ofUsed(used)
    const covering = await this.#covering({ hosts })
    const worker = async () => {
      for (let line = waiting.shift(); line; line = waiting.shift())
        await this.#checkOne(line, known.get(line.certificate.fingerprint), covering)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    const { hosts: renewed, failed } = this.#done
    return { hosts: renewed, failed: [...failed] }
  }

  /** Logs a finding once, not at every reconcile. */
  async #tellFindings(): Promise<void> {
    const { inventory, log, clock } = this.#parts
    const findings = await inventory.findings(clock.now())
    const known = new Set(this.#told.split('\n'))
    const lineOf = ({ path, sentence }: CertificateFinding) => `${path} ${sentence}`
    for (const finding of findings.filter((each) => !known.has(lineOf(each)))) {
      log.warn({ event: 'certificate_file_problem', finding: finding.kind, path: finding.path }, finding.sentence)
    }
    this.#told = findings.map(lineOf).join('\n')
  }

  /** Receipts are not kept: thousands would fill the memory. A run reads them again under its leases. */
  async #uses(): Promise<Use[]> {
    const uses: Use[] = []
    const certificates = new Map<string, ChosenCertificate>()
    for await (const exposure of eachExposure(this.#parts.store)) {
      const found = useOf(exposure)
      if (!found) continue
      const certificate = certificates.get(found.certificate.fingerprint) ?? found.certificate
      certificates.set(certificate.fingerprint, certificate)
      uses.push({ ...found, certificate })
    }
    return uses
  }

  async #checkOne(line: Line, known: Renewal | undefined, covering: Covering): Promise<void> {
    const { log } = this.#parts
    const { names, fingerprint } = line.certificate
    try {
      if (known && this.#states.waits(known))
        return await this.#placeUntried(line, covering).catch((fault: unknown) => this.#failed(known, fault))
      const renewal = await this.#states.advised(
        line.certificate,
        known ?? { fingerprint, names, attempts: 0, failures: 0 },
      )
      await this.#act(line, renewal, covering).catch((fault: unknown) => this.#failed(renewal, fault))
    } catch (error) {
      this.#done.failed.add(names.join(', '))
      log.error(
        { event: 'renewal_check_failed', err: error, names },
        'A certificate could not be checked for renewal; retrying.',
      )
    }
  }

  /** Serves a newer certificate of the folders. If there is none, and the certificate is ours and due, orders one. */
  async #act(line: Line, renewal: Renewal, covering: Covering): Promise<void> {
    const { clock } = this.#parts
    const { certificate } = line
    const served = new Set(await this.#place(line, covering))
    const rest = line.hosts.filter((host) => !served.has(host))
    if (rest.length > 0 && certificate.ours && dueAt(certificate, renewal.advice?.window) <= clock.now()) {
      await this.#run({ hosts: rest, task: ordering(renewal) })
      return
    }
    const lagging = rest.filter(({ lags }) => lags)
    const { secondary } = (lagging.length > 0 && (await this.#run({ hosts: lagging, task: {} }))?.verify) || {}
    if (secondary && !secondary.ok) throw new Fault(secondary.detail)
    await this.#states.succeeded(renewal)
  }

  /** Serves hosts with a better certificate of the folders. Resolves with these hosts. */
  async #place({ certificate, hosts }: Line, covering: Covering): Promise<readonly Use[]> {
    const better = successors(hosts, covering)
    for (const group of better) {
      await this.#run({ hosts: group.hosts, task: {} }).catch((fault: unknown) => {
        const refused = this.#refused.get(certificate.fingerprint) ?? new Set()
        this.#refused.set(certificate.fingerprint, refused.add(group.certificate.fingerprint))
        throw fault
      })
    }
    return better.flatMap((group) => group.hosts)
  }

  /** During a pause after a failure: only certificates that have not failed are placed. */
  async #placeUntried(line: Line, covering: Covering): Promise<void> {
    const refused = this.#refused.get(line.certificate.fingerprint)
    await this.#place(line, new Map([...covering].filter(([, { fingerprint }]) => !refused?.has(fingerprint))))
  }

  /** One run by schedule. Hosts that another run changes just now, or whose entry somebody edited, are left for later. */
  async #run({ hosts, task }: Choice): Promise<Afters | undefined> {
    const free = await this.#unclaimed(hosts)
    const plan = free[0] && (await this.#parts.store.findPlan(free[0].planId))
    if (!plan) return undefined
    const started = await this.#begin(plan, { hosts: free, task }, async () => BY_SCHEDULE).catch((fault: unknown) => {
      if (fault instanceof Problem && fault.code === 'plan_busy') return undefined
      throw fault
    })
    if (!started) return undefined
    const { outcome, afters } = await started.result
    if (outcome.kind !== 'succeeded') throw outcome.fault
    this.#done.hosts.push(...free.map(({ host }) => host))
    return afters
  }

  async #unclaimed(hosts: readonly Use[]): Promise<readonly Use[]> {
    const { store, primary, log } = this.#parts
    if (!primary) return []
    const open: Use[] = []
    for (const use of hosts) {
      const exposure = await store.findExposure(use.host)
      const now = exposure && useOf(exposure)
      if (!exposure?.receipt || exposure.runId !== undefined) continue
      if (now?.certificate.fingerprint === use.certificate.fingerprint) open.push(use)
    }
    const listed = open.length === 0 ? [] : (await primary.list(open.map(({ host }) => host))).hosts
    const foreign = new Map(
      listed.flatMap(({ host, drift }) => {
        const edited = drift.find(({ field, found }) => field === 'certificate' && found !== 'missing')
        return edited ? [[host, edited.file]] : []
      }),
    )
    for (const [host, path] of foreign)
      log.warn(
        { event: 'certificate_file_edited', host, path },
        'The host keeps its certificate, because the line that names it was changed outside Drawbridge.',
      )
    const free = open.filter(({ host }) => !foreign.has(host))
    if (free.length === 0 && foreign.size > 0)
      throw new Fault('Somebody changed the lines that name the certificate; they were left alone.')
    return free
  }

  #covering({ hosts }: Pick<Line, 'hosts'>): Promise<Covering> {
    const { inventory, clock } = this.#parts
    return inventory.coveringEach(
      hosts.map(({ host }) => host),
      clock.now(),
    )
  }

  async #failed(renewal: Renewal, fault: unknown): Promise<void> {
    this.#done.failed.add(renewal.names.join(', '))
    await this.#states.failed(renewal, fault)
  }
}

type Prove = (session: StoreSession) => Promise<Origin>

interface Started {
  readonly plan: Plan
  readonly result: Promise<RunResult>
}

/** An authority may refuse an order because of `replaces`, so an order after a failure does not have it. */
const ordering = (renewal: Pick<Renewal, 'failures' | 'advice'> | undefined): RunTask => ({
  orders: true,
  ...(renewal?.failures === 0 && renewal.advice?.replaces !== undefined && { replaces: renewal.advice.replaces }),
})

const noCertificate = (host: string): Problem =>
  new Problem('certificate_unavailable', `${host} is served without a certificate: there is none to renew.`, {
    retryable: false,
    nextAction: 'Nothing is to be renewed for a host that was planned with tls: false.',
  })

const placedByHand = (host: string): Problem =>
  new Problem(
    'certificate_unavailable',
    `The certificate of ${host} was placed by an administrator, and no better one lies in the folders.`,
    { retryable: false, nextAction: 'Place a newer certificate in one of the folders of certificates.' },
  )
