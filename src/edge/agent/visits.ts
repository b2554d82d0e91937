import { type Endpoint, formatEndpoint } from '../../model/address.ts'
import type { EdgeVisitor } from '../contract/visit.ts'
import { isProof } from '../record/proof.ts'
import type { ServedHost } from '../served.ts'
import { edgeVisitor } from '../visit/visitor.ts'
import type { Asked, WireVisit, WireVisitAnswer } from '../wire/verbs.ts'
import type { AgentMachine } from './machine.ts'
import { hostIn, InvalidMessage } from './message.ts'

const MOST_VISITORS = 8
const WILDCARDS = ['*', '0.0.0.0', '::']

type Visit = (asked: Asked<'visit'>, signal: AbortSignal) => Promise<WireVisitAnswer[]>

/** Visits only the edge's own web server. */
export function visiting(machine: AgentMachine): Visit {
  const { edge, view, clock } = machine
  const visitors = new Map<number, EdgeVisitor>()
  const visitorFor = (limitMs: number): EdgeVisitor => {
    const visitor = visitors.get(limitMs) ?? edgeVisitor(limitMs, clock)
    if (visitors.size < MOST_VISITORS) visitors.set(limitMs, visitor)
    return visitor
  }
  const visit = async (question: WireVisit, signal: AbortSignal) => {
    const { host } = question
    if (question.kind === 'others') {
      const listeners = await edge.foreignListeners(questionIn(question), signal)
      return { kind: 'others' as const, listeners: [...listeners] }
    }
    const { at } = question
    if (at) await assertOurs(machine, at)
    if (question.kind === 'certificate')
      return at ? view.handshake(at, hostIn(host), at.limitMs) : edge.handshake(hostIn(host), signal)
    const { full } = question
    const asked = questionIn(question)
    if (!at) return edge.ask(asked, signal)
    if (full === undefined) return view.visit({ ...asked, listenAddress: at }, at.limitMs)
    return visitorFor(at.limitMs).visit({ ...asked, listenAddress: at, full })
  }
  return async ({ questions, forget = [] }, signal) => {
    for (const host of forget) for (const visitor of visitors.values()) visitor.forget(host)
    return (await Promise.all(questions.map((question) => visit(question, signal)))) as WireVisitAnswer[]
  }
}

/** Prevents requests to other machines: the agent visits only addresses on which its own web server listens. */
async function assertOurs({ address, listen, ports, reader }: AgentMachine, endpoint: Endpoint): Promise<void> {
  const own = [address, ...listen].flatMap((one) =>
    [ports.http, ports.https].map((port) => formatEndpoint({ address: one, port })),
  )
  if (own.includes(formatEndpoint(endpoint))) return
  const { hosts } = await reader.read()
  if (!hosts.some((host) => listensAt(host, endpoint, address)))
    throw new InvalidMessage('nginx does not listen at that address.')
}

function listensAt({ listen }: ServedHost, endpoint: Endpoint, own: string): boolean {
  return listen.some(({ address, port }) => {
    const bare = address.replace(/^\[|\]$/g, '')
    return (
      port === endpoint.port && (bare === endpoint.address || (endpoint.address === own && WILDCARDS.includes(bare)))
    )
  })
}

/** The path goes into a request line. */
function questionIn({ host, path, tls, proof }: Extract<WireVisit, { path: string }>) {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw new InvalidMessage('The path of a visit is not valid.')
  if (proof !== undefined && !isProof(proof)) throw new InvalidMessage('The proof of a visit is not valid.')
  return { host: hostIn(host), path, tls, ...(proof !== undefined && { proof }) }
}
