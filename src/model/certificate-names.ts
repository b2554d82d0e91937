/** `wildcard`: one certificate for every host of a zone. `host`: one for each. */
export type CertificateScope = 'wildcard' | 'host'

/** The names that a new certificate for the host is ordered for. */
export const certificateNames = (scope: CertificateScope, zone: string, host: string): readonly string[] =>
  scope === 'wildcard' ? [`*.${zone}`] : [host]
