import { Fault } from './errors.ts'
import type { DnsChange, Plan } from './exposure.ts'
import type { OutOfStepCause } from './host-status.ts'
import type { JournalEntry, StepName } from './run.ts'

/** A record to be written. Names are canonical, the value of a CNAME too; the value of a TXT is its text, of any length. */
export interface ZoneRecord {
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
  readonly ttl: number
  readonly value: string
  /** It was there before the exposure, and stays when the exposure is removed. */
  readonly kept?: true
}

/** The text of the owner mark. Everybody can read it in DNS, so its id must open nothing: it is no plan id. */
export const markText = (exposureId: string): string => `drawbridge ${exposureId}`

/** The id in an owner mark. Marks of earlier versions hold the id of a plan. Undefined: the text is no owner mark. */
export const idInMark = (text: string): string | undefined =>
  /^drawbridge ((?:exposure|plan)_[0-9a-z]{26,64})$/.exec(text)?.[1]

/** Whether an owner mark holds the id of a plan, as earlier versions wrote it. */
export const marksPlan = ({ type, value }: Pick<ZoneRecord, 'type' | 'value'>): boolean =>
  type === 'TXT' && idInMark(value)?.startsWith('plan_') === true

/** The certificate that a host is served with. It is named by its files: the key itself is never stored. */
export interface ChosenCertificate {
  readonly fingerprint: string
  /**
   * The service has no copy of the pair, so its files have no path. Edges that have it keep it, and when it is due another one is
   * ordered. Set by a rebuild, which asks no edge for a key.
   */
  readonly pairOnEdge?: true
  readonly certificateFile: string
  readonly keyFile: string
  readonly source: 'installed' | 'issued'
  readonly names: readonly string[]
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly notAfter: number
  /** Whether Drawbridge ordered it, now or earlier. Then Drawbridge renews it. */
  readonly ours: boolean
  /** In hex. Absent in receipts of earlier versions. */
  readonly serial?: string
}

/** Whether a certificate with these names is valid for the host. */
export const coversHost = (names: readonly string[], host: string): boolean =>
  names.includes(host) || names.includes(`*${host.slice(host.indexOf('.'))}`)

/** What one edge answered for the host. */
export interface EdgeVerdict {
  readonly server: string
  readonly ok: boolean
  readonly detail: string
  readonly httpStatus?: number
  readonly latencyMs?: number
  /** Who issued the certificate that it served. */
  readonly issuer?: string
}

/** What became of the Secondary, which decides nothing. Receipts of earlier versions do not say whether it is in step. */
export interface SecondaryVerdict extends EdgeVerdict {
  readonly optional: true
  /** Whether it serves this host and every other host as the store says. */
  readonly inStep?: boolean
  readonly outOfStep?: {
    readonly cause: OutOfStepCause
    readonly since: string
    /** How many hosts it does not have as the store says. */
    readonly hosts: number
  }
}

export interface Verification {
  readonly primary: EdgeVerdict
  readonly secondary: SecondaryVerdict | null
}

/** What stood on the Primary before a run. */
export interface BackupManifest {
  readonly runId: string
  readonly host: string
  readonly server: string
  readonly at: string
  /** The number of the generation in which it stood. Null: the edge had none. */
  readonly generation: number | null
  /** The certificate of the host, if it had one. */
  readonly certificate?: ChosenCertificate | undefined
}

/** The after-image of each step. They are journalled as JSON and never hold a secret. */
export interface StepResults {
  readonly check: null
  readonly backup: BackupManifest
  readonly certificate: ChosenCertificate
  /** `generation`: the one that serves it. `released`: the absolute path of the file that an accept wrote outside the edge's folder. */
  readonly proxy: { readonly generation: number; readonly released?: string }
  readonly 'proxy-tls': { readonly generation: number }
  readonly dns: { readonly records: readonly ZoneRecord[] }
  readonly verify: Verification
}

/** The after-images of the earlier steps of a run. They survive a crash. */
export type Afters = Partial<StepResults>

/** Reads the after-images of a journal, newest first for each step. */
export function aftersIn(entries: readonly JournalEntry[]): Afters {
  const done = entries.filter(({ mark, step }) => step !== 'run' && (mark === 'done' || mark === 'verdict'))
  return Object.fromEntries(done.map(({ step, image }) => [step, image])) as Partial<
    Record<StepName, unknown>
  > as Afters
}

/** What an apply created, and so what its removal removes. One per exposure, stored as JSON. */
export interface Receipt {
  readonly version: 2
  readonly records: readonly ZoneRecord[]
  readonly certificate?: ChosenCertificate | undefined
  readonly verification?: Verification | undefined
  /** The fingerprint of the certificate that the Secondary was last seen to serve; undefined: the same as the Primary. */
  readonly onSecondary?: string | undefined
}

/** The receipt of a run that succeeded. What the run left as it was comes from the former receipt. */
export const receiptOf = (afters: Afters, former?: Receipt): Receipt => ({
  version: 2,
  records: afters.dns?.records ?? former?.records ?? [],
  ...(afters.certificate && { certificate: afters.certificate }),
  ...(afters.verify && { verification: afters.verify }),
})

/** The receipt of a host whose certificate was replaced. The Secondary may still have the former one. */
export function renewedReceipt(receipt: Receipt, { certificate, verify }: Afters): Receipt {
  const isOnSecondary = verify?.secondary?.ok ?? true
  const onSecondary = isOnSecondary ? certificate?.fingerprint : secondaryCertificate(receipt)
  return { ...receipt, ...(certificate && { certificate }), ...(onSecondary !== undefined && { onSecondary }) }
}

/** The fingerprint of the certificate that the Secondary was last seen to serve for the host. */
export const secondaryCertificate = ({ onSecondary, certificate }: Receipt): string | undefined =>
  onSecondary ?? certificate?.fingerprint

/** Reads a stored receipt. Rejects one that another version of Drawbridge wrote. */
export function decodeReceipt(stored: unknown, host: string): Receipt {
  const { version } = stored as { version?: unknown }
  if (version === 2) return stored as Receipt
  throw new Fault(
    `The receipt of ${host} has version ${JSON.stringify(version)}, which this version of Drawbridge cannot read. Start the version that wrote it.`,
  )
}

/** The DNS records of an exposure: those of its receipt or, before it has one, those that its plan adds. */
export function recordsOf({ changes }: Plan, receipt: Receipt | undefined): readonly ZoneRecord[] {
  if (receipt && receipt.records.length > 0) return receipt.records
  return changes
    .filter((change): change is DnsChange => change.kind === 'dns')
    .map(({ action, name, type, ttl, value }) => ({
      ...{ name, type, ttl, value },
      ...(action === 'keep' && { kept: true as const }),
    }))
}
