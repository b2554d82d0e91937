import { createHash } from 'node:crypto'
import type { DnsProvider, ZoneRecord } from '../../dns/contract.ts'
import { isInZone } from '../../model/dns-name.ts'
import type { ChallengeResponder } from '../contract.ts'

export interface DnsResponderOptions {
  readonly provider: Pick<DnsProvider, 'addValue' | 'removeValue'>
  /** The zone that the provider changes. */
  readonly zone: string
  readonly ttl: number
  /** Resolves when every name server of the zone serves the record. Rejects with a Fault when that takes too long. */
  readonly waitUntilServed: (record: ZoneRecord) => Promise<void>
}

/** dns-01: a TXT record. Other TXT records of the same name are not changed. */
export function dnsResponder({ provider, zone, ttl, waitUntilServed }: DnsResponderOptions): ChallengeResponder {
  const recordFor = (host: string, keyAuthorization: string): ZoneRecord => {
    if (!isInZone(host, zone)) throw new Error(`The host ${host} is not in the zone ${zone}.`)
    const value = createHash('sha256').update(keyAuthorization).digest('base64url')
    return { name: `_acme-challenge.${host}`, type: 'TXT', ttl, value }
  }
  return {
    type: 'dns-01',
    async present(host, _token, keyAuthorization) {
      const record = recordFor(host, keyAuthorization)
      await provider.addValue(record)
      await waitUntilServed(record)
    },
    withdraw: async (host, _token, keyAuthorization) => provider.removeValue(recordFor(host, keyAuthorization)),
  }
}
