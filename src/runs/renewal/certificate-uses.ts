import type { InstalledCertificate } from '../../certificates/contract.ts'
import { type ChosenCertificate, secondaryCertificate } from '../../model/receipt.ts'
import type { Exposure } from '../../store/ports/exposures.ts'
import { isBetter } from '../steps/renew.ts'

/** An applied host that is served with a certificate. */
export interface Use {
  readonly host: string
  readonly planId: string
  readonly certificate: ChosenCertificate
  /** One of the edges may not have the certificate: the Secondary was away, or an earlier version was interrupted. */
  readonly lags: boolean
}

/** One certificate and the hosts that are served with it. */
export interface Line {
  readonly certificate: ChosenCertificate
  readonly hosts: readonly Use[]
}

/** The best certificate in the folders, by host. */
export type Covering = ReadonlyMap<string, InstalledCertificate>

/** Undefined for a host that is not applied, or not served with a certificate. */
export function useOf({ host, planId, state, receipt, unconfirmed }: Exposure): Use | undefined {
  const { certificate } = receipt ?? {}
  // A newer certificate than the store knows may be served.
  if (unconfirmed === 'edges') return undefined
  if (state !== 'applied' || !receipt || !certificate) return undefined
  const lags = secondaryCertificate(receipt) !== certificate.fingerprint
  return { host, planId, certificate, lags }
}

export function linesOf(hosts: readonly Use[]): Line[] {
  return [...Map.groupBy(hosts, ({ certificate }) => certificate.fingerprint).values()].flatMap((group) =>
    group[0] ? [{ certificate: group[0].certificate, hosts: group }] : [],
  )
}

/** Hosts for which something better is there, by what that is. */
export function successors(
  hosts: readonly Use[],
  covering: Covering,
): { readonly certificate: InstalledCertificate; readonly hosts: readonly Use[] }[] {
  const better = hosts.flatMap((host) => {
    const certificate = covering.get(host.host)
    return certificate && isBetter(certificate, host.certificate) ? [{ host, certificate }] : []
  })
  return [...Map.groupBy(better, ({ certificate }) => certificate.fingerprint).values()].flatMap((group) =>
    group[0] ? [{ certificate: group[0].certificate, hosts: group.map(({ host }) => host) }] : [],
  )
}
