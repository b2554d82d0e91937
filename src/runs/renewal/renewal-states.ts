import { LONGEST_ADVICE_MS } from '../../certificates/budget/renewal-schedule.ts'
import { type CertificateInventory, LONGEST_PAUSE_MS, type RenewalAdvisor } from '../../certificates/contract.ts'
import { Fault, sentenceOf } from '../../model/errors.ts'
import type { NewEvent } from '../../model/event.ts'
import type { Renewal } from '../../model/ledger.ts'
import type { ChosenCertificate } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import { isPaused, type Pauses, pauseAfter } from '../../primitives/retry.ts'
import type { Log } from '../../runtime/log.ts'
import type { Store } from '../../store/ports/store.ts'

export interface RenewalStateParts {
  readonly store: Store
  readonly inventory: CertificateInventory
  readonly advisor: RenewalAdvisor
  readonly retry: Pauses
  readonly log: Log
  readonly clock: Clock
}

/** What the store keeps about the renewal of each certificate in use: attempts, failures and the advice of its authority. */
export class RenewalStates {
  readonly #parts: RenewalStateParts

  constructor(parts: RenewalStateParts) {
    this.#parts = parts
  }

  /** By fingerprint. Deletes the states of certificates that are not in use any more. */
  async ofUsed(fingerprints: readonly string[]): Promise<ReadonlyMap<string, Renewal>> {
    const { store } = this.#parts
    const used = new Set(fingerprints)
    const renewals = await store.listRenewals()
    for (const { fingerprint } of renewals) if (!used.has(fingerprint)) await store.deleteRenewal(fingerprint)
    return new Map(renewals.map((renewal) => [renewal.fingerprint, renewal]))
  }

  /** Whether the last attempt has failed, and the next one has to wait. */
  waits({ nextAttemptAt = 0 }: Renewal): boolean {
    return isPaused(nextAttemptAt, LONGEST_PAUSE_MS, this.#parts.clock.now())
  }

  /** The renewal with the present advice of its authority, which is asked only when it allows that. */
  async advised(certificate: ChosenCertificate, renewal: Renewal): Promise<Renewal> {
    const { advisor, inventory, store, clock } = this.#parts
    if (!certificate.ours || isPaused(renewal.advice?.askAgainAt ?? 0, LONGEST_ADVICE_MS, clock.now())) return renewal
    // The file that the receipt names may be one of another instance.
    const here = await inventory.withFingerprint(certificate.fingerprint)
    const advice = await advisor.advise(here ?? certificate)
    // An authority that does not answer now may have said something before.
    const advised = { ...renewal, advice: { ...advice, window: advice.window ?? renewal.advice?.window } }
    await store.putRenewal(advised)
    return advised
  }

  async succeeded(renewal: Renewal): Promise<void> {
    if (renewal.failures > 0)
      await this.#parts.store.putRenewal({ ...renewal, failures: 0, nextAttemptAt: undefined, reason: undefined })
  }

  /** Notes when it is tried again, and tells it. */
  async failed(renewal: Renewal, fault: unknown): Promise<void> {
    const { store, log, clock, retry } = this.#parts
    const at = clock.now()
    const failures = renewal.failures + 1
    const told = fault instanceof Fault ? (fault.retryAfter ?? 0) * 1000 : 0
    const failed: Renewal = {
      ...renewal,
      attempts: renewal.attempts + 1,
      failures,
      nextAttemptAt: at + Math.min(Math.max(pauseAfter(failures, retry), told), LONGEST_PAUSE_MS),
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

const renewalFailed = ({ names, attempts, failures, nextAttemptAt, reason }: Renewal, at: number): NewEvent => ({
  at,
  type: 'certificate.renewal_failed',
  host: names[0] ?? '',
  facts: {
    names: names.join(', '),
    reason: reason ?? '',
    attempts,
    failures,
    nextAttemptAt: nextAttemptAt === undefined ? null : new Date(nextAttemptAt).toISOString(),
  },
})
