import type { Endpoint } from './address.ts'
import type { Badge, CertificateLevel, CheckAnswer, StatusRanges, Validity } from './badge.ts'
import type { ListenGap } from './evidence.ts'
import type { History } from './history.ts'

/** A host that the Primary's edge serves or should serve, and how the monitor checks it. */
export interface WatchedHost {
  readonly host: string
  /** The path of the file with its server block. Null when there is no such file. */
  readonly configPath: string | null
  /** Drawbridge created the host. */
  readonly managed: boolean
  readonly tls: boolean
  /** The path that checks request: the health path of a managed host, `/` for any other. */
  readonly path: string
  /** The statuses that are good for this host. Undefined: those of any host. */
  readonly goodStatuses?: StatusRanges | undefined
  /** Where the edge listens for the host. */
  readonly listenAddress: Endpoint
  /** Why the host cannot be asked: it stays PENDING. Undefined: it can. */
  readonly listenGap?: ListenGap | undefined
  /** The id of the backend's server. Null when its address is not in the registry, or the host proxies nothing. */
  readonly server: string | null
  /** The address of the backend, for callers on the internal network. */
  readonly address: string | null
  /** The port of the backend. Absent if the host proxies nothing, and in what earlier versions stored. */
  readonly port?: number | undefined
  readonly planId: string | null
  readonly expiresAt: number | null
  /** The rollback of a run failed, and no run may change the host. Absent for unmanaged hosts and in what earlier versions stored. */
  readonly isBlocked?: boolean | undefined
  /** The edge answers visitors with the maintenance page. Absent for unmanaged hosts and in what earlier versions stored. */
  readonly inMaintenance?: boolean | undefined
  /** Of the plan, for callers on the internal network. Absent if it has none. */
  readonly owner?: string
  readonly note?: string
}

/** The result of one request through the edge. */
interface CheckResult extends CheckAnswer {
  readonly at: number
  readonly ok: boolean
  readonly latencyMs: number | null
}

export interface ServedCertificate extends Validity {
  readonly level: CertificateLevel
  /** Whether it covers this host. */
  readonly forHost: boolean
  /** The name of the authority. Absent where it is not known. */
  readonly issuer?: string | undefined
  /** Its names, as far as they are DNS names. Absent if the host is its only name. */
  readonly names?: readonly string[] | undefined
}

/** The results of the last full check: DNS, files and certificate. Null: not checked yet, or not known. */
export interface FullCheck {
  readonly at: number | null
  readonly dns: 'ours' | 'not_ours' | null
  readonly file: 'unchanged' | 'edited' | null
  readonly certificate: ServedCertificate | null
  /** Whether the Secondary has the host as it was applied. Absent in what earlier versions stored. */
  readonly secondary?: SecondaryEntry | null
}

/** How the entry of a host stands on the Secondary. `differs`: as another plan, or edited by hand. */
export const SECONDARY_ENTRIES = ['in_step', 'missing', 'differs'] as const
export type SecondaryEntry = (typeof SECONDARY_ENTRIES)[number]

/** Everything that is known about a host. The store keeps it as JSON. */
export interface HostStatus extends WatchedHost {
  readonly badge: Badge
  /** When the badge last changed. Null while the badge is PENDING. */
  readonly since: number | null
  readonly lastCheck: CheckResult | null
  readonly fullCheck: FullCheck
  readonly history: History
  /** Since when the host has not been well. Null while it is. Absent in what earlier versions stored. */
  readonly trouble?: Trouble | null
  /** Increases with every badge change over all hosts. A stream resumes from it. */
  readonly changed: number
  /** Set by the board, which knows the mutes that are in force. Not stored with the status. */
  readonly mute?: Mute | undefined
}

/** What a check of all hosts by request has found. */
export interface HostsChecked {
  /** The number of hosts that were checked. */
  readonly checked: number
  /** The hosts whose badge is another one than before. */
  readonly changed: readonly { readonly host: string; readonly badge: Badge }[]
  /** Hosts that a run is changing: its own verification checks them. */
  readonly busy: readonly string[]
  readonly failed: readonly string[]
}

interface Trouble {
  readonly since: number
  /** It has lasted as long as the host's rule allows, and its alert was sent. */
  readonly isAlerted: boolean
}

/** A muted host is checked like any other, but its trouble is nobody's concern: no alert, no webhook. */
export interface Mute {
  /** Null: the configuration mutes the host. */
  readonly since: number | null
  /** Null: until somebody ends it. */
  readonly until: number | null
  /** The caller's address, or `configuration`. */
  readonly by: string
  readonly note?: string | undefined
}

/** When the trouble of a host becomes an alert. */
export interface AlertRule {
  readonly afterMs: number
  /** Never. */
  readonly isMuted: boolean
}

/**
 * Why an edge is not in step with the store. `away`: its nginx or its machine does not answer. `config_broken`: nginx would not
 * load its configuration. `disk_full`, `not_writable`: its files cannot be written. `removal_refused`: more hosts would be taken
 * off it than Drawbridge takes off without a person. `restored`: hosts wait for a person since the store was restored or rebuilt. `catching_up`: it has not made the last changes yet.
 */
export const OUT_OF_STEP_CAUSES = [
  'away',
  'config_broken',
  'disk_full',
  'not_writable',
  'removal_refused',
  'catching_up',
  'restored',
  'other',
] as const
export type OutOfStepCause = (typeof OUT_OF_STEP_CAUSES)[number]

export interface OutOfStep {
  readonly cause: OutOfStepCause
  readonly sentence: string
  /** Since when it was seen so, in milliseconds since 1970. */
  readonly since: number
}

/** Lines that belong to no host, in a file of an edge that hosts share. Their text is never told. */
export interface StrayLines {
  /** The path in the folder of the edge. */
  readonly file: string
  /** Their numbers. */
  readonly lines: readonly number[]
}
/** Bounds of what an edge tells of them. */
export const MOST_STRAY_FILES = 100
export const MOST_STRAY_LINES = 100

/** How the hosts of an edge compare with the store. */
export interface ComparedEdge {
  readonly server: string
  /** How many hosts it has. */
  readonly entries: number
  /** Hosts that the edge lacks, or has as another plan or with another certificate. */
  readonly behind: readonly string[]
  /** Hosts that a Secondary still has although a run of this store has removed them. */
  readonly orphans: readonly string[]
  /** The same for hosts whose plan has ended, where no run of this store proves it. Many of them are not removed without a person. */
  readonly doubtful: readonly string[]
  /**
   * Hosts of plans that this store does not know: of another installation. Hosts that a run has changed which this store does not
   * know: they are newer than the store. On the Primary also those of plans that have ended: somebody has restored them. They are
   * never touched.
   */
  readonly unknown: readonly string[]
  /** The plans of the entries in `orphans` and `doubtful`, by host. */
  readonly endedPlans?: Readonly<Record<string, string>>
  /** Drift of the edge, and of none of its hosts. A person on its machine decides about it. */
  readonly stray: readonly StrayLines[]
}

/** How far an edge is from what the store says. */
export interface EdgeStanding extends ComparedEdge {
  /** Undefined while the edge is in step. */
  readonly outOfStep?: OutOfStep | undefined
}

/** How many hosts are out of sync with the store. */
export const hostsOutOfStep = ({ behind, orphans, doubtful }: ComparedEdge): number =>
  behind.length + orphans.length + doubtful.length

const UNFIT: readonly OutOfStepCause[] = ['away', 'config_broken', 'disk_full', 'not_writable']

/** Whether the edge takes no change at all while it is out of step for this reason. */
export const isUnfit = ({ cause }: Pick<OutOfStep, 'cause'>): boolean => UNFIT.includes(cause)
