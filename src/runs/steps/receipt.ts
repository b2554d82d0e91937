import type { ZoneRecord } from '../../dns/contract.ts'
import type { EdgeAnswer, FileHash } from '../../edge/contract.ts'
import type { DnsChange, Plan } from '../../model/exposure.ts'
import type { ChosenCertificate } from './certificate.ts'
import type { ProxyAfter, ProxyTarget } from './proxy.ts'
import type { Verification } from './verify.ts'

/** The after-images of an apply, by step name. */
export type Receipt = Readonly<Record<string, unknown>>

/** The files that the apply wrote last. */
export function appliedFiles(receipt: unknown): readonly FileHash[] {
  const { proxy, 'proxy-tls': secured } = (receipt ?? {}) as Partial<Record<ProxyTarget['name'], ProxyAfter>>
  return (secured ?? proxy)?.files ?? []
}

/** A receipt with other files than those that the apply wrote. */
export function withFiles(receipt: Receipt, files: readonly FileHash[]): Receipt {
  const step: ProxyTarget['name'] = 'proxy-tls' in receipt ? 'proxy-tls' : 'proxy'
  return { ...receipt, [step]: { files } satisfies ProxyAfter }
}

/** The Primary's answer at the verification of the apply. With TLS that step also proved the certificate. */
export function verifiedAnswer(receipt: unknown): EdgeAnswer | undefined {
  const { verify, certificate } = (receipt ?? {}) as { verify?: Verification; certificate?: ChosenCertificate }
  const { httpStatus, latencyMs } = verify?.primary ?? {}
  if (httpStatus === undefined || latencyMs === undefined) return undefined
  if (!certificate) return { kind: 'answer', httpStatus, latencyMs }
  const { fingerprint, names } = certificate
  const notBefore = new Date(certificate.notBefore).toISOString()
  const notAfter = new Date(certificate.notAfter).toISOString()
  return {
    kind: 'answer',
    httpStatus,
    latencyMs,
    certificate: { fingerprint, names, coversHost: true, notBefore, notAfter },
  }
}

/** The DNS records that a plan adds. */
export const recordsOf = ({ changes }: Plan): ZoneRecord[] =>
  changes
    .filter((change): change is DnsChange => change.kind === 'dns')
    .map(({ name, type, ttl, value }) => ({ name, type, ttl, value }))
