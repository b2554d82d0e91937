import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { ListedHost } from '../../edge/contract/list.ts'
import { StepFault } from '../engine/step.ts'

/** A host as it stands on an edge. */
export async function hostOn(edge: Pick<Edge, 'list' | 'server'>, host: string): Promise<ListedHost> {
  const [listed] = (await edge.list([host])).hosts
  if (!listed) throw new EdgeFault('unavailable', `Edge ${edge.server} tells nothing about ${host}.`)
  return listed
}

/** Somebody has edited what stands for the host. */
export const editedSince = (
  { host, drift: [first], file, line }: ListedHost,
  { server }: Pick<Edge, 'server'>,
): StepFault => {
  const place = first ?? { file, line }
  const at = place.line === null ? place.file : `${place.file}, line ${place.line}`
  return new StepFault(
    `The entry of ${host} on edge ${server} was changed outside Drawbridge since it was applied (${at}). Restore it, then try again.`,
    { untouched: true },
  )
}
