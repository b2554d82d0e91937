import type { InstalledCertificate } from '../../certificates/contract.ts'
import type { NewEvent } from '../../model/event.ts'
import type { Renewal } from '../../model/renewal.ts'

/** One event for a certificate, whatever number of hosts it serves: its first name stands for them. */
export const renewed = (
  { names, serial, notAfter, issued }: InstalledCertificate,
  hosts: readonly unknown[],
  at: number,
): NewEvent => ({
  at,
  type: 'certificate.renewed',
  host: names[0] ?? '',
  facts: {
    names: names.join(', '),
    serial,
    notAfter: notAfter.toISOString(),
    hosts: hosts.length,
    source: issued ? 'issued' : 'placed',
  },
})

export const renewalFailed = ({ names, attempts, failures, nextAttemptAt, reason }: Renewal, at: number): NewEvent => ({
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
