import type { RenewalAdvice } from '../../model/renewal.ts'

/** A certificate's life, in milliseconds since 1970. */
interface Validity {
  readonly fingerprint: string
  readonly notBefore: number
  readonly notAfter: number
}

/** Before the end of the second third of its life, so that it is normally over before anybody warns. */
const LEAST_LEAD = 0.01
const SPREAD = 0.04

/**
 * When a certificate is to be replaced: at two thirds of its life and a little earlier, by a share that its fingerprint
 * gives, so that certificates issued together are not renewed together. What the authority suggests goes before that,
 * but not into the last sixth.
 */
export function dueAt({ fingerprint, notBefore, notAfter }: Validity, window?: RenewalAdvice['window']): number {
  const life = notAfter - notBefore
  const share = shareOf(fingerprint)
  if (window) return Math.min(window.start + share * (window.end - window.start), notAfter - life / 6)
  return notBefore + life * (2 / 3 - LEAST_LEAD - SPREAD * share)
}

/** From 0 to 1, always the same for the same certificate. */
const shareOf = (fingerprint: string): number =>
  Number.parseInt(fingerprint.replaceAll(':', '').slice(0, 8), 16) / 0x1_0000_0000
