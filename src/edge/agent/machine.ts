import type { FoundSite } from '../../model/options/adoption.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Edge, EdgePreflight, EdgeView } from '../contract/edge.ts'
import type { Entry } from '../record/entry.ts'
import type { EdgeReader } from '../served.ts'

/** The configuration of a host, independent of other hosts. For display. */
interface EntryText {
  readonly path: string
  readonly line: number | null
  readonly text: string
}

/** The web server of the machine on which an agent runs. */
export interface AgentMachine {
  readonly server: string
  readonly folder: string
  readonly address: string
  readonly listen: readonly string[]
  readonly ports: { readonly http: number; readonly https: number }
  readonly clock: Clock
  readonly edge: Edge
  readonly view: EdgeView
  readonly reader: EdgeReader
  readonly preflight: EdgePreflight
  /** The number of the present generation. Undefined before the first one. */
  readonly generation: number | undefined
  /** The record of a host. Undefined if the edge has none. */
  entryOf(host: string): Entry | undefined
  /** Undefined if the edge does not serve the host. */
  show(host: string): Promise<EntryText | undefined>
  /** The hand-written site of a host. Undefined without one. */
  findSite(
    host: string,
    targets: readonly { readonly server: string; readonly address: string }[],
  ): Promise<FoundSite | undefined>
  /** The process id of the web server's master. Undefined if it does not run. */
  masterPid(): number | undefined
}
