import type { Endpoint } from '../../model/address.ts'
import { escapeText, quoteText } from '../../model/escape-text.ts'
import type { NamedFinding } from '../../model/options/adoption.ts'
import { areCanonical } from '../../model/options/read-options.ts'
import type { Clock } from '../../primitives/clock.ts'
import { sharedNextRun } from '../../primitives/shared-run.ts'
import { Slices } from '../../primitives/slices.ts'
import type { EdgePreflight, EdgeView, SiteAnswer } from '../contract/edge.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { EdgeVisitor } from '../contract/visit.ts'
import type { EdgeReader, ServedMap } from '../served.ts'
import { NO_HOSTS, type ServedList, withChanges } from '../served-list.ts'
import { askEdge } from '../visit/ask.ts'
import { tlsHandshake } from '../visit/handshake.ts'
import { edgeVisitor } from '../visit/visitor.ts'
import type { Asked, WireServed } from '../wire/verbs.ts'
import type { AgentClient } from './agent-client.ts'
import { ANSWERS, HANDSHAKES, isAway, listIn, questionOf } from './remote-edge.ts'
import { toldAnswer, toldHandshake } from './told-certificate.ts'

/**
 * The address of the edge in the configuration of the service. An agent may name any address: the service connects only to this
 * one.
 */
export interface EdgeAddress {
  readonly address: string
  readonly ports: { readonly http: number; readonly https: number }
}

/** The read-only view of an edge through its agent. While the agent is away, hosts are visited directly. */
export function remoteView(client: AgentClient, known: EdgeAddress): EdgeView {
  return {
    ...known,
    isBehindAgent: true,
    list: async (hosts) => listIn(client, hosts, await client.call('list', { hosts: [...hosts] })),
    answers: async (host, { address, port, tls }) =>
      (await client.look('block', { host, place: { address, port, tls } })) ?? undefined,
    localAddress: async (name) => (await client.look('name', name)) ?? undefined,
    visit: ({ listenAddress, ...question }, limitMs) =>
      client
        .visit({ ...questionOf(question), at: { ...listenAddress, limitMs } }, ANSWERS)
        .then(toldAnswer, (error: unknown) => {
          if (!isAway(error)) throw error
          const { address, port } = listenAddress
          if (!isAt(known, listenAddress)) return UNREACHABLE
          return askEdge({ address, ports: { http: port, https: port }, clock: client.clock }, question, limitMs)
        }),
    handshake: (listenAddress, host, limitMs) =>
      client
        .visit({ kind: 'certificate', host, at: { ...listenAddress, limitMs } }, HANDSHAKES)
        .then(toldHandshake, (error: unknown) => {
          if (!isAway(error)) throw error
          if (!isAt(known, listenAddress)) return { kind: 'unknown' }
          return tlsHandshake(listenAddress, host, limitMs, client.clock)
        }),
    loadState: async (paths) => {
      const { changedSinceLoad, refusal } = await client.look('loaded', [...paths])
      return { changedSinceLoad, refusal: refusal === null ? null : quoteText(refusal) }
    },
    newestErrorClass: (host, since) => client.look('newestError', { host, since }),
  }
}

const UNREACHABLE = { kind: 'no_answer', reason: 'unreachable' } as const

const isAt = ({ address, ports }: EdgeAddress, at: Endpoint): boolean =>
  at.address === address && Object.values(ports).includes(at.port)

/** The hand-written site of a host, which the agent judges. `targets`: the deployment targets, which it does not know. */
export const remoteSites =
  (client: AgentClient, targets: NonNullable<Asked<'look'>['site']>['targets']) =>
  async (host: string): Promise<SiteAnswer> => {
    const answer = await client.look('site', { host, targets })
    if (answer.kind === 'site' && answer.options !== undefined && !areCanonical(answer.options))
      throw new EdgeFault('unavailable', `The agent of edge ${client.server} gave options that are none.`)
    if (answer.kind !== 'site') return answer
    const { changed, lost, refused } = answer
    return { ...answer, changed: changed.map(told), lost: lost.map(told), refused: refused.map(told) }
  }

/** Quotes the words of an agent: the agent may be compromised. */
const told = ({ directive, sentence }: NamedFinding): NamedFinding => ({
  directive: escapeText(directive),
  sentence: quoteText(sentence),
})

export const remotePreflight = (client: AgentClient): EdgePreflight => ({
  check: (host, tls) => client.look('conflict', { host, tls }).catch(() => ({ kind: 'unknown' })),
})

/**
 * What an edge serves, through its agent: only changes are transferred. While the agent is away, the last known state is used:
 * nginx continues to serve it.
 */
export function remoteReader(client: AgentClient): EdgeReader<ServedMap> {
  let latest: ServedMap = { ...NOWHERE }
  let list: ServedList = NO_HOSTS
  const readAgain = async (): Promise<ServedMap> => {
    const since = latest.fingerprint === '' ? null : latest.fingerprint
    const look = await client.look('served', { since }).catch((error: unknown) => {
      if (isAway(error)) return undefined
      throw error
    })
    if (!look || (!look.whole && look.fingerprint === latest.fingerprint)) return latest
    list = await changed(look.whole ? NO_HOSTS : list, look, client.clock)
    const { hosts, byName } = list
    const { fingerprint, changedAt, debugLogs, patterns } = look
    const broken = look.broken.map((part) => ({ ...part, sentence: quoteText(part.sentence) }))
    latest = {
      hosts,
      find: (host) => byName.get(host.toLowerCase().replace(/\.$/, '')),
      broken,
      debugLogs,
      patterns,
      fingerprint,
      changedAt: changedAt ?? Number.POSITIVE_INFINITY,
    }
    return latest
  }
  return { read: sharedNextRun(readAgain) }
}

const NOWHERE: ServedMap = {
  hosts: [],
  find: () => undefined,
  broken: [],
  debugLogs: [],
  fingerprint: '',
  changedAt: Number.POSITIVE_INFINITY,
}

function changed(list: ServedList, { hosts, gone }: WireServed, clock: Clock): Promise<ServedList> {
  const served = new Map(hosts.map((host) => [host.host, host]))
  return withChanges(list, [...served.keys(), ...gone], (host) => served.get(host), new Slices(clock))
}

/** Visits hosts through the agent, and directly while it is away. */
export function remoteVisitor(client: AgentClient, limitMs: number, known: EdgeAddress): EdgeVisitor {
  const direct = edgeVisitor(limitMs, client.clock)
  return {
    visit: (question) => {
      const { listenAddress, full } = question
      return client
        .visit({ ...questionOf(question), at: { ...listenAddress, limitMs }, full }, ANSWERS)
        .then(toldAnswer, () => (isAt(known, listenAddress) ? direct.visit(question) : UNREACHABLE))
    },
    forget: (host) => {
      direct.forget(host)
      client.call('visit', { questions: [], forget: [host] }).catch(() => undefined)
    },
    close: () => direct.close(),
  }
}
