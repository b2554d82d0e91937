import { type Endpoint, formatEndpoint } from '../model/address.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'
import type { DnsOutcome, DnsQuestion, DnsReader, NoAnswer } from './contract.ts'
import { askOverTcp, type DnsTransport, makeQuery, type Query, sockets } from './transport.ts'
import { UnaskableName } from './wire/name.ts'

export interface ReaderOptions {
  /** Sets the recursion-desired flag. Only for resolvers, never for a zone's primary. */
  readonly recursive?: boolean
  readonly limitMs?: number
  readonly resendAfterMs?: number
  /** Default: that of the machine. */
  readonly clock?: Clock
  /** Default: the sockets of this machine. */
  readonly transport?: DnsTransport | undefined
}

/** Queries one server over UDP, and over TCP when the answer is truncated. */
export function dnsReader(server: Endpoint, options: ReaderOptions = {}): DnsReader {
  const { recursive = false, limitMs = 2_500, resendAfterMs = 800, transport = sockets } = options
  const askAll = async (
    questions: readonly DnsQuestion[],
    clock: FairClock,
    signal: AbortSignal | undefined,
  ): Promise<readonly DnsOutcome[]> => {
    signal?.throwIfAborted()
    if (clock.elapsedMs >= limitMs) return questions.map(() => ({ kind: 'no_answer', reason: 'timeout' }))
    const ids = new Set<number>()
    const queries = questions.map((question) => queryOrReason(question, recursive, ids))
    const udpQueries = queries.filter(isQuery).filter(({ question }) => question.over !== 'tcp')
    const udpOutcomes = transport.askOverUdp(server, udpQueries, { clock, limitMs, resendAfterMs, signal })
    const asked = queries.map(async (query) => {
      if (!isQuery(query)) return query
      const outcome = (await udpOutcomes.get(query)) ?? 'truncated'
      if (outcome !== 'truncated') return outcome
      return askOverTcp(server, query, { clock, limitMs, signal }, transport.exchangeOverTcp)
    })
    const outcomes = await Promise.all(asked)
    signal?.throwIfAborted()
    return outcomes
  }
  return {
    server: formatEndpoint(server),
    async ask(questions, { clock, signal } = {}) {
      if (clock) return askAll(questions, clock, signal)
      using own = new FairClock(options.clock)
      return await askAll(questions, own, signal)
    },
  }
}

const isQuery = (query: Query | NoAnswer): query is Query => 'wire' in query

function queryOrReason(question: DnsQuestion, recursive: boolean, ids: Set<number>): Query | NoAnswer {
  try {
    return makeQuery(question, recursive, ids)
  } catch (error) {
    if (error instanceof UnaskableName) return { kind: 'no_answer', reason: 'unaskable' }
    throw error
  }
}
