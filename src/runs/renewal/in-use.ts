import type { InstalledCertificate } from '../../certificates/contract.ts'
import type { FileHash } from '../../edge/contract.ts'
import type { Exposure } from '../../store/ports/exposures.ts'
import type { ChosenCertificate } from '../steps/certificate.ts'
import { appliedFiles, type Receipt, withFiles } from '../steps/receipt.ts'

/** An applied host that is served with a certificate, as far as one must know to tell whether there is something to do. */
export interface Use {
  readonly host: string
  readonly certificate: ChosenCertificate
  /** The fingerprint of what the Secondary was last seen to serve. */
  readonly onSecondary: string
  /** A replacement that was begun and not booked yet. */
  readonly intent: Intent | undefined
}

/** The same with all that its receipt tells. */
export interface InUse extends Use {
  readonly planId: string
  readonly receipt: Receipt
}

/** What is about to stand on the Primary, written down before it does: whoever comes after a crash can tell it from an edit. */
interface Intent {
  readonly certificate: ChosenCertificate
  readonly files: readonly FileHash[]
  /** The host's entry as it stood. */
  readonly former: { readonly path: string; readonly content: string }
}

/** Members of a receipt that no run writes. */
const INTENT = 'renewal'
const SECONDARY = 'secondary'

/** Undefined for a host that is not applied, or not served with a certificate. */
export function inUse({ host, planId, state, receipt }: Exposure): InUse | undefined {
  const { certificate } = (receipt ?? {}) as Partial<Record<string, ChosenCertificate>>
  return state === 'applied' && certificate?.names ? asReceiptSays(host, planId, receipt as Receipt) : undefined
}

/** The same host under another receipt. */
export const under = ({ host, planId }: InUse, receipt: Receipt): InUse => asReceiptSays(host, planId, receipt)

function asReceiptSays(host: string, planId: string, receipt: Receipt): InUse {
  const certificate = receipt.certificate as ChosenCertificate
  const onSecondary = (receipt[SECONDARY] as string | undefined) ?? certificate.fingerprint
  return { host, planId, receipt, certificate, onSecondary, intent: receipt[INTENT] as Intent | undefined }
}

export const withIntent = ({ receipt }: InUse, intent: Intent): Receipt => ({ ...receipt, [INTENT]: intent })

export function withoutIntent({ receipt }: InUse): Receipt {
  const { [INTENT]: _, ...rest } = receipt
  return rest
}

/** The receipt once the Primary was seen to serve the new certificate. The Secondary still has what it had. */
export function withReplaced(
  host: InUse,
  certificate: ChosenCertificate,
  files: readonly FileHash[],
  isOfCertificate: (path: string) => boolean,
): Receipt {
  const others = appliedFiles(host.receipt).filter(({ path }) => !isOfCertificate(path))
  const receipt = withFiles(withoutIntent(host), [...others, ...files])
  return { ...receipt, certificate, [SECONDARY]: host.onSecondary }
}

export const withSecondary = ({ receipt }: InUse, fingerprint: string): Receipt => ({
  ...receipt,
  [SECONDARY]: fingerprint,
})

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
  return appliedFiles(exposure.receipt).filter(({ path }) => !(isReplacing && isOfCertificate(path)))
}
