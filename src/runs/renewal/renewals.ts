import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { dueAt } from '../../certificates/budget/renewal-schedule.ts'
import type {
  CertificateFinding,
  CertificateInventory,
  CertificateIssuer,
  ChallengeResponder,
  InstalledCertificate,
  RenewalAdvisor,
} from '../../certificates/contract.ts'
import { Fault, Problem, sentenceOf } from '../../model/errors.ts'
import type { Renewal } from '../../model/ledger.ts'
import { hostLease } from '../../model/run.ts'
import { type Pauses, pauseAfter } from '../../primitives/retry.ts'
import { eachExposure } from '../../store/ports/exposures.ts'
import { type InUse, inUse, successors, type Use } from './in-use.ts'
import { type OrderParts, orderFor } from './order-for.ts'
import { bringSecondaryUp, renewalFailed, replaceCertificate, takeBack } from './replace.ts'

export interface RenewalParts extends OrderParts {
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  readonly advisor: RenewalAdvisor
  readonly retry: Pauses
}

/** One certificate and the hosts that are served with it. */
interface Line {
  readonly certificate: Use['certificate']
  readonly hosts: readonly Use[]
}

/** The best certificate in the folders, by host. */
type Covering = ReadonlyMap<string, InstalledCertificate>

/** What a host is served with after its certificate was renewed by request. */
export interface RenewedNow {
  readonly certificate: Use['certificate']
  /** `issued`: by the authority, for this. `reused`: a better one lay in the folders. */
  readonly source: 'issued' | 'reused'
  /** All hosts that are served with it. */
  readonly hosts: readonly string[]
  readonly warnings: readonly string[]
}

const AT_ONCE = 4

/**
 * Looks after every certificate in use: what is due is renewed, what is newer in the folders is served, what a crash left is
 * brought to its end. Books, folders and edges tell everything; from one look to the next it remembers only what must not be
 * tried again within a pause.
 */
export class Renewals {
  readonly #parts: RenewalParts
  /** By the certificate in use: the better ones that could not be put in its place. */
  readonly #refused = new Map<string, Set<string>>()
  readonly #requested = new Set<Promise<unknown>>()
  #underWay: Promise<void> | undefined
  #told = ''

  constructor(parts: RenewalParts) {
    this.#parts = parts
  }

  /** One look at everything, never two at once. A certificate that cannot be renewed yet keeps no other one waiting. */
  look(): Promise<void> {
    this.#underWay ??= this.#lookOnce().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /**
   * Renews the certificate of one host, due or not: a better one of the folders is served, or else one is ordered within the
   * order budget. All hosts that share the certificate get the new one. Rejects with a Problem where there is nothing to
   * renew, or with the Fault that kept the former certificate in use. A look may go on at the same time: each holds its hosts
   * under a name of its own.
   */
  renewNow(host: string): Promise<RenewedNow> {
    const instance = `${this.#parts.instance} ${randomBytes(8).toString('hex')}`
    const renewing = new Renewals({ ...this.#parts, instance }).#renewHost(host)
    this.#requested.add(renewing)
    return renewing.finally(() => this.#requested.delete(renewing))
  }

  /** Waits for what is under way, at most so long. */
  async drain(limitMs: number): Promise<void> {
    const ended = Promise.allSettled([this.#underWay, ...this.#requested])
    await Promise.race([ended, sleep(limitMs, undefined, { ref: false })])
  }

  async #lookOnce(): Promise<void> {
    await this.#tellFindings()
    const found = await this.#uses()
    const hosts = (await this.#settle(found)) ? await this.#uses() : found
    const waiting = linesOf(hosts)
    const known = await this.#known(waiting)
    const covering = await this.#covering({ hosts })
    const worker = async () => {
      for (let line = waiting.shift(); line; line = waiting.shift()) {
        await this.#lookAfter(line, known.get(line.certificate.fingerprint), covering)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  /** Once per change, not once per look. */
  async #tellFindings(): Promise<void> {
    const { inventory, log, now } = this.#parts
    const findings = await inventory.findings(now())
    const known = new Set(this.#told.split('\n'))
    const lineOf = ({ path, sentence }: CertificateFinding) => `${path} ${sentence}`
    for (const finding of findings.filter((each) => !known.has(lineOf(each)))) {
      log.warn({ event: 'certificate_file_problem', finding: finding.kind, path: finding.path }, finding.sentence)
    }
    this.#told = findings.map(lineOf).join('\n')
  }

  /** Receipts are not kept: thousands would fill the memory, and whoever changes something reads them again under his hold. */
  async #uses(): Promise<Use[]> {
    const uses: Use[] = []
    const certificates = new Map<string, Use['certificate']>()
    for await (const exposure of eachExposure(this.#parts.store)) {
      const found = inUse(exposure)
      if (!found) continue
      const { host, onSecondary, intent } = found
      const certificate = certificates.get(found.certificate.fingerprint) ?? found.certificate
      certificates.set(certificate.fingerprint, certificate)
      uses.push({ host, certificate, onSecondary, intent })
    }
    return uses
  }

  /** Replacements that were begun and not booked: forward with the same certificate, or back when it is gone. False: there were none. */
  async #settle(hosts: readonly Use[]): Promise<boolean> {
    const { inventory, log } = this.#parts
    const begun = Map.groupBy(
      hosts.filter(({ intent }) => intent),
      ({ intent }) => intent?.certificate.fingerprint ?? '',
    )
    for (const [fingerprint, left] of begun) {
      log.warn(
        { event: 'renewal_recovered', hosts: left.map(({ host }) => host) },
        'A certificate replacement was interrupted; finishing it.',
      )
      try {
        const certificate = await inventory.withFingerprint(fingerprint)
        await (certificate ? replaceCertificate(this.#parts, certificate, left) : takeBack(this.#parts, left))
      } catch (error) {
        log.error(
          { event: 'renewal_recovery_failed', err: error },
          'An interrupted certificate replacement could not be finished; retrying.',
        )
      }
    }
    return begun.size > 0
  }

  /** How each renewal goes, by fingerprint. Of certificates that nobody uses any more nothing is kept. */
  async #known(lines: readonly Line[]): Promise<ReadonlyMap<string, Renewal>> {
    const { store } = this.#parts
    const used = new Set(lines.map(({ certificate }) => certificate.fingerprint))
    for (const fingerprint of this.#refused.keys()) if (!used.has(fingerprint)) this.#refused.delete(fingerprint)
    const renewals = await store.listRenewals()
    for (const { fingerprint } of renewals) if (!used.has(fingerprint)) await store.deleteRenewal(fingerprint)
    return new Map(renewals.map((renewal) => [renewal.fingerprint, renewal]))
  }

  async #lookAfter(line: Line, known: Renewal | undefined, covering: Covering): Promise<void> {
    const { now, log } = this.#parts
    const { names, fingerprint } = line.certificate
    try {
      if (known?.nextAttemptAt !== undefined && now() < known.nextAttemptAt)
        return await this.#giveUntried(line, covering).catch((fault: unknown) => this.#failed(known, fault))
      const renewal = await this.#advised(line, known ?? { fingerprint, names, attempts: 0, failures: 0 })
      await this.#act(line, renewal, covering).catch((fault: unknown) => this.#failed(renewal, fault))
    } catch (error) {
      log.error(
        { event: 'renewal_check_failed', err: error, names },
        'A certificate could not be checked for renewal; retrying.',
      )
    }
  }

  /** What is newer goes to the hosts; where nothing is, and the certificate is ours and due, a new one is had first. */
  async #act(line: Line, renewal: Renewal, covering: Covering): Promise<void> {
    const { store, secondary, now } = this.#parts
    const given = await this.#give(line, covering)
    const rest = line.hosts.filter((host) => !given.includes(host))
    const [first] = rest
    const isDue = line.certificate.ours && dueAt(line.certificate, renewal.advice?.window) <= now()
    if (first && isDue) {
      await this.#renew(first, { ...line, hosts: rest }, renewal)
      return
    }
    const lagging = rest.filter(({ onSecondary }) => onSecondary !== line.certificate.fingerprint)
    if (secondary && lagging.length > 0) await this.#bringUp(line, lagging)
    if (renewal.failures > 0)
      await store.putRenewal({ ...renewal, failures: 0, nextAttemptAt: undefined, reason: undefined })
  }

  /** Hosts for which something better is there are given it. */
  async #give({ certificate, hosts }: Line, covering: Covering): Promise<readonly Use[]> {
    const better = successors(hosts, covering)
    for (const group of better) {
      await replaceCertificate(this.#parts, group.certificate, group.hosts).catch((fault: unknown) => {
        const refused = this.#refused.get(certificate.fingerprint) ?? new Set()
        this.#refused.set(certificate.fingerprint, refused.add(group.certificate.fingerprint))
        throw fault
      })
    }
    return better.flatMap((group) => group.hosts)
  }

  /** A pause after a failure is for what failed. What came into the folders since then need not wait for its end. */
  async #giveUntried(line: Line, covering: Covering): Promise<void> {
    const refused = this.#refused.get(line.certificate.fingerprint)
    const untried = [...covering].filter(([, { fingerprint }]) => !refused?.has(fingerprint))
    await this.#give(line, new Map(untried))
  }

  /**
   * Under the lease of these names, and only if nobody did it meanwhile. An order that was left is gone on with. Gives whether
   * the authority issued one for this.
   */
  async #renew(first: Use, line: Line, { failures, advice }: Renewal): Promise<boolean> {
    const { edgeLock, issuer, crashPoint } = this.#parts
    const present = await this.#present(first)
    if (!present) return false
    const { names, responder, around } = await orderFor(this.#parts, present)
    return edgeLock.holdOrder(names, async () => {
      if (!(await this.#present(first))) return false
      const isIssued = successors([first], await this.#covering(line)).length === 0
      if (isIssued) {
        crashPoint('renew run begun')
        // An authority may refuse an order because of what it is said to replace: the next one says nothing.
        const replaces = failures === 0 ? advice?.replaces : undefined
        await around(() => issuer.issue(names, telling(responder, crashPoint), { replaces }))
        crashPoint('renew certificate issued')
      }
      await this.#give(line, await this.#covering(line))
      return isIssued
    })
  }

  #covering({ hosts }: Pick<Line, 'hosts'>): Promise<Covering> {
    const { inventory, now } = this.#parts
    return inventory.coveringEach(
      hosts.map(({ host }) => host),
      now(),
    )
  }

  async #renewHost(host: string): Promise<RenewedNow> {
    const { store, secondary } = this.#parts
    const line = linesOf(await this.#uses()).find(({ hosts }) => hosts.some((use) => use.host === host))
    const use = line?.hosts.find((each) => each.host === host)
    if (!line || !use) throw await this.#nothingToRenew(host)
    const { fingerprint, names } = use.certificate
    const covering = await this.#covering(line)
    const hasBetter = successors([use], covering).length > 0
    if (!hasBetter && !use.certificate.ours) throw placedByHand(host)
    const renewal = (await store.findRenewal(fingerprint)) ?? { fingerprint, names, attempts: 0, failures: 0 }
    const isIssued = hasBetter ? false : await this.#renew(use, line, renewal)
    if (hasBetter) await this.#give(line, covering)
    const exposure = await store.findExposure(host)
    const after = exposure && inUse(exposure)
    if (!after || after.certificate.fingerprint === fingerprint) throw await this.#nothingToRenew(host)
    const isLagging = secondary !== undefined && after.onSecondary !== after.certificate.fingerprint
    return {
      certificate: after.certificate,
      source: isIssued ? 'issued' : 'reused',
      hosts: (await this.#uses()).flatMap((other) =>
        other.certificate.fingerprint === after.certificate.fingerprint ? [other.host] : [],
      ),
      warnings: isLagging ? ['The Secondary still serves the former certificate. Retrying automatically.'] : [],
    }
  }

  /** Why a host's certificate was not replaced although nothing failed. */
  async #nothingToRenew(host: string): Promise<Problem> {
    const { store, now } = this.#parts
    const exposure = await store.findExposure(host)
    const found = exposure && inUse(exposure)
    if (found?.intent || (await store.findLease(hostLease(host), now())))
      return new Problem('plan_busy', `Another run for ${host} is under way.`, { retryAfter: 5 })
    if (found) return new Problem('renew_failed', `The certificate that was had for ${host} is no better than its own.`)
    return new Problem('certificate_unavailable', `${host} is served without a certificate: there is none to renew.`, {
      retryable: false,
      nextAction: 'Nothing is to be renewed for a host that was planned with tls: false.',
    })
  }

  /** With its receipt; undefined when it is no longer served with that certificate. */
  async #present({ host, certificate }: Use): Promise<InUse | undefined> {
    const exposure = await this.#parts.store.findExposure(host)
    const found = exposure && inUse(exposure)
    return found?.certificate.fingerprint === certificate.fingerprint ? found : undefined
  }

  async #bringUp({ certificate }: Line, hosts: readonly Use[]): Promise<void> {
    const installed = await this.#parts.inventory.withFingerprint(certificate.fingerprint)
    if (!installed) throw new Fault('The certificate that the Secondary lacks is in none of the folders.')
    await bringSecondaryUp(this.#parts, installed, hosts)
  }

  /** With what its authority says now, where it may be asked again. */
  async #advised(line: Line, renewal: Renewal): Promise<Renewal> {
    const { advisor, store, now } = this.#parts
    if (!line.certificate.ours || (renewal.advice && now() < renewal.advice.askAgainAt)) return renewal
    const advice = await advisor.advise(line.certificate)
    // An authority that does not answer now may have said something before.
    const advised = { ...renewal, advice: { ...advice, window: advice.window ?? renewal.advice?.window } }
    await store.putRenewal(advised)
    return advised
  }

  async #failed(renewal: Renewal, fault: unknown): Promise<void> {
    const { store, log, now, retry } = this.#parts
    const at = now()
    const failures = renewal.failures + 1
    const told = fault instanceof Fault ? (fault.retryAfter ?? 0) * 1000 : 0
    const failed: Renewal = {
      ...renewal,
      attempts: renewal.attempts + 1,
      failures,
      nextAttemptAt: at + Math.max(pauseAfter(failures, retry), told),
      reason: sentenceOf(fault),
    }
    await store.transaction(async (session) => {
      await session.putRenewal(failed)
      await session.appendEvent(renewalFailed(failed, at))
    })
    log.error(
      { event: 'renewal_failed', err: fault, names: renewal.names, nextAttemptAt: failed.nextAttemptAt },
      'A certificate was not renewed; retrying at nextAttemptAt.',
    )
  }
}

const placedByHand = (host: string): Problem =>
  new Problem(
    'certificate_unavailable',
    `The certificate of ${host} was placed by an administrator, and no better one lies in the folders.`,
    { retryable: false, nextAction: 'Place a newer certificate in one of the folders of certificates.' },
  )

function linesOf(hosts: readonly Use[]): Line[] {
  const settled = hosts.filter(({ intent }) => !intent)
  return [...Map.groupBy(settled, ({ certificate }) => certificate.fingerprint).values()].flatMap((group) =>
    group[0] ? [{ certificate: group[0].certificate, hosts: group }] : [],
  )
}

const telling = (responder: ChallengeResponder, crashPoint: RenewalParts['crashPoint']): ChallengeResponder => ({
  ...responder,
  present: async (...proof) => {
    await responder.present(...proof)
    crashPoint('renew certificate challenge-set')
  },
})
