import type { InstalledCertificate } from '../../certificates/contract.ts'
import type { FileHash } from '../../edge/contract.ts'
import type { ChosenCertificate, Receipt, RenewalIntent } from '../../model/receipt.ts'
import type { Exposure } from '../../store/ports/exposures.ts'

/** An applied host that is served with a certificate, as far as one must know to tell whether there is something to do. */
export interface Use {
  readonly host: string
  readonly certificate: ChosenCertificate
  /** The fingerprint of what the Secondary was last seen to serve. */
  readonly onSecondary: string
  /** A replacement that was begun and not booked yet. */
  readonly intent: RenewalIntent | undefined
}

/** The same with all that its receipt tells. */
export interface InUse extends Use {
  readonly planId: string
  readonly receipt: Receipt
}

/** Undefined for a host that is not applied, or not served with a certificate. */
export const inUse = ({ host, planId, state, receipt }: Exposure): InUse | undefined =>
  state === 'applied' && receipt ? under({ host, planId }, receipt) : undefined

/** The same host under another receipt. Undefined for a receipt without a certificate. */
export function under({ host, planId }: Pick<InUse, 'host' | 'planId'>, receipt: Receipt): InUse | undefined {
  const { certificate, onSecondary, renewal: intent } = receipt
  if (!certificate) return undefined
  return { host, planId, receipt, certificate, onSecondary: onSecondary ?? certificate.fingerprint, intent }
}

export const withIntent = ({ receipt }: InUse, renewal: RenewalIntent): Receipt => ({ ...receipt, renewal })

export const withoutIntent = ({ receipt }: InUse): Receipt => ({ ...receipt, renewal: undefined })

/** The receipt once the Primary was seen to serve the new certificate. The Secondary still has what it had. */
export function withReplaced(
  host: InUse,
  certificate: ChosenCertificate,
  files: readonly FileHash[],
  isOfCertificate: (path: string) => boolean,
): Receipt {
  const others = host.receipt.files.filter(({ path }) => !isOfCertificate(path))
  return { ...withoutIntent(host), files: [...others, ...files], certificate, onSecondary: host.onSecondary }
}

export const withSecondary = ({ receipt }: InUse, onSecondary: string): Receipt => ({ ...receipt, onSecondary })

/** Hosts for which something better is there, by what that is. */
export function successors(
  hosts: readonly Use[],
  covering: ReadonlyMap<string, InstalledCertificate>,
): { readonly certificate: InstalledCertificate; readonly hosts: readonly Use[] }[] {
  const better = hosts.flatMap((host) => {
    const certificate = covering.get(host.host)
    return certificate && isBetter(certificate, host) ? [{ host, certificate }] : []
  })
  return [...Map.groupBy(better, ({ certificate }) => certificate.fingerprint).values()].flatMap((group) =>
    group[0] ? [{ certificate: group[0].certificate, hosts: group.map(({ host }) => host) }] : [],
  )
}

/**
 * Whether a certificate that covers the host should replace the one in use: it is newer, or lasts longer, or was issued in its
 * place within the same second. Certificates tell times in seconds, and the inventory finds the later one of two such.
 */
export function isBetter(candidate: InstalledCertificate, { certificate }: Pick<Use, 'certificate'>): boolean {
  if (candidate.fingerprint === certificate.fingerprint) return false
  const newer = candidate.notBefore.getTime() - certificate.notBefore
  const longer = candidate.notAfter.getTime() - certificate.notAfter
  const isReissue = candidate.issued && certificate.ours && candidate.names.join() === certificate.names.join()
  return newer > 0 || longer > 0 || (newer === 0 && longer === 0 && isReissue)
}

/**
 * The Primary's files of an exposure, as they were applied. While a certificate is being replaced its files are left out:
 * they are neither what was applied nor anybody's edit.
 */
export function filesToCompare(exposure: Exposure, isOfCertificate: (path: string) => boolean): readonly FileHash[] {
  const isReplacing = inUse(exposure)?.intent !== undefined
  return (exposure.receipt?.files ?? []).filter(({ path }) => !(isReplacing && isOfCertificate(path)))
}
