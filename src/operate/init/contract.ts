import type { ZoneKey as ConfiguredKey } from '../../config/zones.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { Endpoint } from '../../model/address.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { FileOwner } from '../../primitives/durable-file.ts'

/** An nginx as its configuration describes it. */
export interface FoundNginx {
  readonly binary: string
  readonly version: string
  /** The main file, without links. */
  readonly config: string
  readonly prefix: string | undefined
  readonly pidFile: string
  readonly errorLog: string
  /** The pid of the running master. */
  readonly master: number | undefined
  /** The text of the main file. */
  readonly main: string
  /** The patterns that the http block of the main file includes. */
  readonly includes: readonly string[]
  readonly servers: number
  readonly listens: readonly FoundListen[]
}

interface FoundListen {
  /** Such as `*:443`. */
  readonly place: string
  readonly servers: number
  /** Where the default server stands. */
  readonly defaultServer: { readonly path: string; readonly line: number; readonly isExplicit: boolean }
}

/** The nginx that shall serve for Drawbridge. */
export interface NginxPlace extends Pick<FoundNginx, 'binary' | 'config' | 'prefix' | 'pidFile' | 'errorLog'> {
  readonly server: string
  readonly folder: string
  readonly address: string
  readonly listen: readonly string[]
  readonly ports: { readonly http: number; readonly https: number }
}

/** Where Drawbridge's servers will listen. `isShared`: beside servers of others, whose default server stays. */
export interface ChosenListen {
  readonly place: string
  readonly isShared: boolean
}

/** What is known before nginx is asked. */
export interface AskedNginx {
  readonly binary: string
  readonly config?: string | undefined
  readonly prefix?: string | undefined
  readonly folder?: string | undefined
}

/** The key that signs updates. */
export interface UpdateKey extends Pick<ConfiguredKey, 'name' | 'algorithm'> {
  readonly secret: string
}

/** What `init` finds out and does on this machine. */
export interface InitParts {
  readonly clock: Clock
  /** Rejects if there is no usable nginx, with the reason. */
  findNginx(asked: AskedNginx): Promise<FoundNginx>
  /** The main file with the include of the folder as the last line of its http block. The same text if it has it already. */
  withInclude(main: string, place: Pick<NginxPlace, 'config' | 'folder'>): string
  /** Throws if the main file has not this text any more. */
  assertUnchanged(place: Pick<NginxPlace, 'config' | 'folder'>, main: string): void
  /** Rejects with the reason if nginx could not serve for Drawbridge with this main file. Changes nothing. */
  rehearse(place: NginxPlace, main: string): Promise<readonly ChosenListen[]>
  /** The user of the service. Undefined where there is none, and for a caller who cannot give files away. */
  serviceUser(): FileOwner | undefined
  /** Rejects with the reason if the unit of the agent lets nginx test less than nginx itself may do. */
  rehearseAsUnit(place: NginxPlace): Promise<void>
  /** Gives `work` the nginx as a run changes it. This process owns it meanwhile. */
  withEdge(place: NginxPlace, work: (edge: Edge) => Promise<void>): Promise<void>
  /** Takes the include out of the main file and removes the folder with its entries. nginx runs without it then. */
  leave(place: NginxPlace): Promise<unknown>
  /** Whether Drawbridge's base file stands there. */
  isPrepared(place: Pick<NginxPlace, 'folder'>): boolean
  /** Rejects with the reason if the server is not authoritative for the zone. */
  assertAuthoritative(zone: string, server: Endpoint): Promise<void>
  /** An authoritative server of the zone on this machine or at the name of its SOA record. */
  findDnsServer(zone: string): Promise<Endpoint | undefined>
  /** Rejects with the reason if the server does not take updates with the key. */
  assertKeyWorks(zone: string, server: Endpoint, key: UpdateKey): Promise<void>
}
