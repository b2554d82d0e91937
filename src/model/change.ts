/** What an apply would do, in order. Pure description: the steps of a run are made from it. */
export type Change = CertificateChange | ProxyChange | DnsChange

interface CertificateChange {
  readonly kind: 'certificate'
  /** `reuse` an installed one that covers the host, or `issue` a new one by ACME. */
  readonly action: 'reuse' | 'issue'
  readonly names: readonly string[]
  readonly notAfter?: string
  readonly directory?: string
}

export interface ProxyChange {
  readonly kind: 'proxy'
  readonly action: 'create'
  readonly serverName: string
  readonly target: string
  readonly https: boolean
}

export interface DnsChange {
  readonly kind: 'dns'
  readonly action: 'create'
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
  readonly ttl: number
  readonly value: string
}
