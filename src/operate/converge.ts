import { Fault } from '../model/errors.ts'
import { type ComparedEdge, hostsOutOfStep } from '../model/host-status.ts'
import { BY_CONSOLE, type Origin } from '../model/run.ts'
import { reasonOf, type WaitingHost } from '../runs/reconcile.ts'
import { CONFIRM_REMOVAL } from '../runs/sync-task.ts'

/** What `drawbridge edge converge` uses. */
export interface ConvergeParts {
  readonly converge: {
    /** Compares the edges with the store, and changes nothing. */
    compare(): Promise<readonly ComparedEdge[]>
    confirm(compared: ComparedEdge, origin: Origin): Promise<void>
    /** The hosts that wait since the store was restored or rebuilt. Changes nothing. */
    waiting(): Promise<readonly WaitingHost[]>
    /** A person confirms what the store says of these hosts. */
    settle(hosts: readonly string[]): Promise<void>
  }
}

/** The hosts that a person has chosen, all of them without a name. Rejects if it does not wait. */
export function chosen(waiting: readonly WaitingHost[], host: string | undefined): readonly WaitingHost[] {
  const found = host === undefined ? waiting : waiting.filter((one) => one.host === host)
  if (host !== undefined && found.length === 0) throw new Fault(`${host} does not wait for a confirmation.`)
  return found
}

export const waitingLines = (waiting: readonly WaitingHost[]): string[] =>
  waiting.length === 0
    ? ['No host waits for a confirmation.']
    : [
        'Since the store was restored or rebuilt, nothing is done by itself with:',
        ...waiting.map((one) => `  ${one.host}  ${reasonOf(one)}`),
      ]

/** The edges that would lose hosts only if a person confirms it. */
export const toConfirm = (compared: readonly ComparedEdge[]): readonly ComparedEdge[] =>
  compared.filter(({ doubtful }) => doubtful.length > 0)

/** Takes these hosts off their edges, each edge in one run. */
export async function confirmRemoval(edges: readonly ComparedEdge[], { converge }: ConvergeParts): Promise<void> {
  for (const edge of edges) await converge.confirm(edge, BY_CONSOLE)
}

export function comparedLines(compared: readonly ComparedEdge[]): string[] {
  if (compared.length === 0) return ['The configuration has no edge.']
  return compared.flatMap(edgeLines)
}

function edgeLines(edge: ComparedEdge): string[] {
  const { server, entries, behind, orphans, doubtful, unknown, stray } = edge
  const isInStep = hostsOutOfStep(edge) + unknown.length + stray.length === 0
  return [
    `Edge ${server} has ${entries} hosts${isInStep ? ' and is in step with the store.' : ':'}`,
    ...listed('missing or with another plan or certificate; they are written automatically', behind),
    ...listed('removed by a run; they are taken off automatically', orphans),
    ...listed('whose plans have ended, but no run of this store has removed them here', doubtful),
    ...listed('that this store does not know; they are never changed', unknown),
    ...stray.map(
      ({ file, lines }) => `  Lines of no host in ${file}: ${lines.length}. drawbridge doctor tells how they go.`,
    ),
  ]
}

const listed = (what: string, hosts: readonly string[]): string[] =>
  hosts.length === 0 ? [] : [`  ${hosts.length} ${what}`, ...hosts.toSorted().map((host) => `    ${host}`)]

/** What to do next, where nothing was confirmed. */
export function nextLines(edges: readonly ComparedEdge[]): string[] {
  if (edges.length === 0) return []
  const count = edges.reduce((sum, { doubtful }) => sum + doubtful.length, 0)
  return [
    `Nothing was changed. More than a few such hosts are not removed without you. To take ${count} off, run: ${CONFIRM_REMOVAL}`,
  ]
}
