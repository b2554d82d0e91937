import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CertificateFinding,
  CertificateInventory,
  CertificateIssuer,
  ChallengeResponder,
  InstalledCertificate,
  RenewalAdvisor,
} from '../../certificates/contract.ts'
import { dueAt, pauseAfter } from '../../certificates/renewal-schedule.ts'
import { Fault, sentenceOf } from '../../model/fault.ts'
import type { Renewal } from '../../model/renewal.ts'
import { eachExposure } from '../../store/each-exposure.ts'
import { type InUse, inUse, successors, type Use } from './in-use.ts'
import { type OrderParts, orderFor } from './order-for.ts'
import { bringSecondaryUp, replaceCertificate, takeBack } from './replace.ts'
import { renewalFailed } from './tidings.ts'

export interface RenewalParts extends OrderParts {
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  readonly advisor: RenewalAdvisor
  readonly retry: { readonly firstMs: number; readonly capMs: number }
}

/** One certificate and the hosts that are served with it. */
interface Line {
  readonly certificate: Use['certificate']
  readonly hosts: readonly Use[]
}

/** The best certificate in the folders, by host. */
type Covering = ReadonlyMap<string, InstalledCertificate>

const AT_ONCE = 4

/**
 * Looks after every certificate in use: what is due is renewed, what is newer in the folders is served, what a crash left is
 * brought to its end. It holds nothing in mind from one look to the next: books, folders and edges tell everything.
 */
export class Renewals {
  readonly #parts: RenewalParts
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

  /** Waits for a look that is under way, at most so long. */
  async drain(limitMs: number): Promise<void> {
    const ended = this.#underWay?.catch(() => undefined)
    await Promise.race([ended, sleep(limitMs, undefined, { ref: false })])
  }

  async #lookOnce(): Promise<void> {
    const { inventory, now } = this.#parts
    await this.#tellFindings()
    const found = await this.#uses()
    const hosts = (await this.#settle(found)) ? await this.#uses() : found
    const waiting = linesOf(hosts)
    const known = await this.#known(waiting)
    const covering = await inventory.coveringEach(
      hosts.map(({ host }) => host),
      now(),
    )
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
      log.warn({ finding: finding.kind, path: finding.path }, finding.sentence)
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
      log.warn({ hosts: left.map(({ host }) => host) }, 'A certificate was being replaced; it is brought to its end')
      try {
        const certificate = await inventory.withFingerprint(fingerprint)
        await (certificate ? replaceCertificate(this.#parts, certificate, left) : takeBack(this.#parts, left))
      } catch (error) {
        log.error({ err: error }, 'A certificate that was being replaced is not in its place yet')
      }
    }
    return begun.size > 0
  }

  /** How each renewal goes, by fingerprint. Of certificates that nobody uses any more nothing is kept. */
  async #known(lines: readonly Line[]): Promise<ReadonlyMap<string, Renewal>> {
    const { store } = this.#parts
    const used = new Set(lines.map(({ certificate }) => certificate.fingerprint))
    const renewals = await store.listRenewals()
    for (const { fingerprint } of renewals) if (!used.has(fingerprint)) await store.deleteRenewal(fingerprint)
    return new Map(renewals.map((renewal) => [renewal.fingerprint, renewal]))
  }

  async #lookAfter(line: Line, known: Renewal | undefined, covering: Covering): Promise<void> {
    const { now, log } = this.#parts
    const { names, fingerprint } = line.certificate
    if (known?.nextAttemptAt !== undefined && now() < known.nextAttemptAt) return
    try {
      const renewal = await this.#advised(line, known ?? { fingerprint, names, attempts: 0, failures: 0 })
      await this.#act(line, renewal, covering).catch((fault: unknown) => this.#failed(renewal, fault))
    } catch (error) {
      log.error({ err: error, names }, 'A certificate could not be looked after')
    }
  }

  /** What is newer goes to the hosts; where nothing is, and the certificate is ours and due, a new one is had first. */
  async #act(line: Line, renewal: Renewal, covering: Covering): Promise<void> {
    const { store, secondary, now } = this.#parts
    const given = await this.#give(line.hosts, covering)
    const rest = line.hosts.filter((host) => !given.includes(host))
    const [first] = rest
    const isDue = line.certificate.ours && dueAt(line.certificate, renewal.advice?.window) <= now()
    if (first && isDue) return this.#renew(first, rest, renewal)
    const lagging = rest.filter(({ onSecondary }) => onSecondary !== line.certificate.fingerprint)
    if (secondary && lagging.length > 0) await this.#bringUp(line, lagging)
    if (renewal.failures > 0)
      await store.putRenewal({ ...renewal, failures: 0, nextAttemptAt: undefined, reason: undefined })
  }

  /** Hosts for which something better is there are given it. */
  async #give(hosts: readonly Use[], covering: Covering): Promise<readonly Use[]> {
    const better = successors(hosts, covering)
    for (const group of better) await replaceCertificate(this.#parts, group.certificate, group.hosts)
    return better.flatMap((group) => group.hosts)
  }

  /** Under the lease of these names, and only if nobody did it meanwhile. An order that was left is gone on with. */
  async #renew(first: Use, hosts: readonly Use[], { failures, advice }: Renewal): Promise<void> {
    const { turns, issuer, inventory, reach, now } = this.#parts
    const present = await this.#present(first)
    if (!present) return
    const { names, responder, around } = await orderFor(this.#parts, present)
    const covering = () =>
      inventory.coveringEach(
        hosts.map(({ host }) => host),
        now(),
      )
    await turns.ordering(names, async () => {
      if (!(await this.#present(first))) return
      if (successors([first], await covering()).length === 0) {
        reach('renew run begun')
        // An authority may refuse an order because of what it is said to replace: the next one says nothing.
        const replaces = failures === 0 ? advice?.replaces : undefined
        await around(() => issuer.issue(names, telling(responder, reach), { replaces }))
        reach('renew certificate issued')
      }
      await this.#give(hosts, await covering())
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
      { err: fault, names: renewal.names, nextAttemptAt: failed.nextAttemptAt },
      'A certificate was not renewed',
    )
  }
}

function linesOf(hosts: readonly Use[]): Line[] {
  const settled = hosts.filter(({ intent }) => !intent)
  return [...Map.groupBy(settled, ({ certificate }) => certificate.fingerprint).values()].flatMap((group) =>
    group[0] ? [{ certificate: group[0].certificate, hosts: group }] : [],
  )
}

const telling = (responder: ChallengeResponder, reach: RenewalParts['reach']): ChallengeResponder => ({
  ...responder,
  present: async (...proof) => {
    await responder.present(...proof)
    reach('renew certificate challenge-set')
  },
})
