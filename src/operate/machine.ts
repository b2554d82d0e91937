import type { Config } from '../config/config.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Hook } from '../notify/webhook-request.ts'
import type { Clock } from '../primitives/clock.ts'
import type { ResolveParts } from '../runs/engine/resolve.ts'
import type { NamedFile } from '../runtime/named-file.ts'
import type { CopyProgress, CopyReport } from '../store/ports/copy.ts'
import type { Store } from '../store/ports/store.ts'
import type { RestoreParts } from './backups.ts'
import type { ConvergeParts } from './converge.ts'
import type { DoctorParts } from './doctor/doctor.ts'
import type { ForeignHosts } from './import.ts'
import type { EntryOf } from './show.ts'
import type { VerifyParts } from './verify/evidence.ts'
import type { WithdrawParts } from './withdraw.ts'

export interface StoreCopied extends CopyReport {
  /** Agents of the new configuration alone that did not tell their epoch. They may start or join after the copy. */
  readonly unknownEpochs: readonly { readonly server: string; readonly reason: string }[]
}

/**
 * The parts that the commands on this machine use. Every member loads its code when it is called, so `--help` loads nothing.
 */
export interface Machine {
  readonly clock: Clock
  /** Runs the service until SIGTERM or SIGINT. SIGHUP reads the file again. */
  serve(config: Config, file: string): Promise<void>
  /** Opens the parts of the service without listening, and closes them after `work`. A service may run beside it. */
  withParts<T>(config: Config, work: (parts: MachineParts) => Promise<T>): Promise<T>
  /** Opens only the store. The caller closes it. Never upgrades its schema. */
  openStore(config: Config): Promise<Store>
  /** The entry of a host on an edge of this machine; undefined when it has none. */
  readonly readEntry: EntryOf
  /**
   * The sites of a folder, or of the Primary's nginx, and what becomes of them. Changes nothing. `tests`: nginx tests its
   * configuration without each site that could be adopted.
   */
  nginxSites(config: Config, folder: string | undefined, tests: boolean): Promise<ForeignHosts>
  /** The same for the database of Nginx Proxy Manager. */
  proxyManagerHosts(config: Config, file: string): Promise<ForeignHosts>
  /** What `doctor` inspects. */
  doctorParts(config: Config): Promise<DoctorParts>
  /** Copies the store of one configuration to that of another, which must be empty. No service may run on either. */
  copyStore(from: Config, to: Config, onProgress: (progress: CopyProgress) => void): Promise<StoreCopied>
  /** Seals the secrets in the store with a new key. `lost`: deletes those that no key of the key file opens. */
  rotateKeys(config: Config, lost: boolean): Promise<KeyRotation>
  /** Writes the key of the ACME account to a new file of mode 0600. */
  exportAccountKey(config: Config, file: NamedFile): Promise<void>
}

/** What a rotation has done. `lost`: the names of secrets that were deleted. */
export interface KeyRotation {
  readonly from: string | undefined
  readonly to: string
  readonly sealed: number
  readonly lost: readonly string[]
}

export interface MachineParts
  extends RestoreParts,
    ConvergeParts,
    Omit<ResolveParts, 'store'>,
    Omit<VerifyParts, 'store'>,
    Omit<WithdrawParts, 'store'> {
  readonly store: Store
  readonly hooks: readonly Hook[]
  readonly webhookReport: () => Promise<readonly WebhookReport[]>
  readonly clock: Clock
}
