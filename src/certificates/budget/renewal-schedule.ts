import type { RenewalAdvice } from '../../model/ledger.ts'

/** An authority is asked again for its advice after this time at most. */
export const LONGEST_ADVICE_MS = 24 * 3_600_000

/** Times in milliseconds since 1970. */
interface Validity {
  readonly fingerprint: string
  readonly notBefore: number
  readonly notAfter: number
}

/** Renewal starts a little before two thirds of the validity have passed, when warnings start. */
const LEAST_LEAD = 0.01
const SPREAD = 0.04

/**
 * When a certificate is due for renewal: a little before two thirds of its validity. The offset depends on the fingerprint, so
 * that certificates that were issued together are not renewed together. A window that the authority suggests has priority,
 * except in the last sixth of the validity.
 */
export function dueAt({ fingerprint, notBefore, notAfter }: Validity, window?: RenewalAdvice['window']): number {
  const validity = notAfter - notBefore
  const share = shareOf(fingerprint)
  if (window) return Math.min(window.start + share * (window.end - window.start), notAfter - validity / 6)
  return notBefore + validity * (2 / 3 - LEAST_LEAD - SPREAD * share)
}

/** From 0 to 1, always the same for the same certificate. */
const shareOf = (fingerprint: string): number =>
  Number.parseInt(fingerprint.replaceAll(':', '').slice(0, 8), 16) / 0x1_0000_0000
