import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { EDGE_NAME } from '../../edge/contract/visit.ts'

/** Only our own server answers this, and says that it is no host. */
const WHO = { host: EDGE_NAME, path: '/', tls: false }

/** Rejects if nginx does not answer, or another server does in place of ours. */
export async function assertAnswers(edge: Edge, place: string): Promise<void> {
  const answer = await edge.ask(WHO)
  if (answer.kind === 'no_answer' && answer.reason === 'unknown_host') return
  if (answer.kind === 'no_answer' && ['refused', 'unreachable', 'timeout'].includes(answer.reason))
    throw doesNotAnswer(edge, answer.reason)
  throw new EdgeFault('unavailable', `The default server of ${place} answered in place of Drawbridge.`)
}

/** Rejects if nginx does not run: no reload could be proven then, neither that of a change nor that of its undo. */
export async function assertRunning(edge: Edge): Promise<void> {
  if (await isStopped(edge)) throw doesNotAnswer(edge, 'refused')
}

/** Whether nothing listens there. Then nginx loads what stands on the disk when it is started. */
export async function isStopped(edge: Edge): Promise<boolean> {
  const answer = await edge.ask(WHO)
  return answer.kind === 'no_answer' && answer.reason === 'refused'
}

const doesNotAnswer = ({ server }: Edge, reason: string): EdgeFault =>
  new EdgeFault('unavailable', `nginx of edge ${server} does not answer (${reason}). Start it.`)
