import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type HostRow, type Hosts as HostsBody, Unreachable } from '../../src/client/index.ts'
import { refusalOf } from '../../src/client/refusal.ts'
import { client } from './client.ts'
import { follow, type LiveState } from './live.ts'

export type { HostRow } from '../../src/client/index.ts'

/** The hosts that are loaded so far. `isWhole`: all hosts are loaded. */
export interface Hosts {
  readonly rows: readonly HostRow[]
  readonly total: number
  readonly isWhole: boolean
  /** How far the edges are from the store. Empty for callers outside. */
  readonly edges: NonNullable<HostsBody['edges']>
  readonly at: string
}

const KEY = ['hosts']
/** Enough for the tallest screen, so that the first page loads fast. */
const FIRST_PAGE = 100
/** The largest page of the service. */
const WHOLE_PAGE = 500
/** A list of many pages is not loaded again for every new host. */
const BETWEEN_WHOLE_LISTS_MS = 5_000
/** Only the whole list has latencies and uptimes, so a short list is loaded more often. */
const lookAgainMs = (hosts: Hosts | undefined): number => ((hosts?.total ?? 0) > 1_000 ? 30_000 : 10_000)

export const useHosts = () => {
  const queries = useQueryClient()
  return useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => fetchHosts(queries, signal),
    refetchInterval: ({ state }) => (state.status === 'error' ? 3_000 : lookAgainMs(state.data)),
    structuralSharing: false,
  })
}

let tag: string | undefined

/** The first load shows a short page while the rest loads. Later loads transfer only changes. */
async function fetchHosts(queries: QueryClient, signal: AbortSignal): Promise<Hosts> {
  const known = queries.getQueryData<Hosts>(KEY)
  if (!known) {
    const { body } = await fetchPage(FIRST_PAGE, null, signal)
    const first = hostsOf(body.hosts, body)
    if (first.isWhole) return first
    queries.setQueryData<Hosts>(KEY, first)
  }
  const { body, isSame } = await fetchPage(WHOLE_PAGE, null, signal, known?.isWhole ? tag : undefined)
  if (known && isSame) return { ...known, at: new Date().toISOString() }
  const rows = new Map(body.hosts.map((row) => [row.host, row]))
  for (let next = body.nextCursor; next !== null; ) {
    const more = await fetchPage(WHOLE_PAGE, next, signal)
    for (const row of more.body.hosts) rows.set(row.host, row)
    next = more.body.nextCursor
  }
  return hostsOf([...rows.values()], { ...body, nextCursor: null })
}

const hostsOf = (rows: readonly HostRow[], { total, nextCursor, edges = [], at }: HostsBody): Hosts => ({
  rows,
  total,
  isWhole: nextCursor === null,
  edges,
  at,
})

async function fetchPage(limit: number, cursor: string | null, signal: AbortSignal, sameAs?: string) {
  const query = { sort: 'badge' as const, limit: String(limit), ...(cursor !== null && { cursor }) }
  const headers = sameAs === undefined ? {} : { 'if-none-match': sameAs }
  const { data, error, response } = await client.api
    .GET('/api/hosts', { params: { query }, headers, signal })
    .catch((cause: unknown) => {
      throw signal.aborted ? cause : new Unreachable(client.baseUrl, cause)
    })
  if (response.status === 304) return { isSame: true, body: NOTHING }
  if (data === undefined) throw refusalOf(error, client.baseUrl)
  if (cursor === null && limit === WHOLE_PAGE) tag = response.headers.get('etag') ?? undefined
  return { isSame: false, body: data }
}

const NOTHING: HostsBody = { hosts: [], total: 0, matched: 0, nextCursor: null, counts: {}, servers: [], at: '' }

/** Keeps the hosts up to date while the page is open, and reports the state of the connection. */
export function useLiveHosts(): LiveState {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('connecting')
  useEffect(() => {
    const changed = new Map<string, HostRow>()
    let isScheduled = false
    let wasLost = false
    let fetching: number | undefined
    const fetchAgain = () => {
      fetching = undefined
      void queries.invalidateQueries({ queryKey: KEY })
    }
    const fetchSoon = () => {
      const isLong = (queries.getQueryData<Hosts>(KEY)?.rows.length ?? 0) > WHOLE_PAGE
      fetching ??= window.setTimeout(fetchAgain, isLong ? BETWEEN_WHOLE_LISTS_MS : 0)
    }
    const draw = () => {
      isScheduled = false
      queries.setQueryData<Hosts>(KEY, (hosts) => hosts && withChanges(hosts, changed))
      changed.clear()
    }
    const stop = follow({
      path: '/api/hosts/events',
      events: {
        badge: (text) => {
          const row = JSON.parse(text) as HostRow
          changed.set(row.host, row)
          // Many hosts can change at once, so they are drawn together.
          if (!isScheduled) window.setTimeout(draw, 100)
          isScheduled = true
        },
        hosts: fetchSoon,
      },
      onState: (next) => {
        setState(next)
        if (next === 'live' && wasLost) void queries.invalidateQueries()
        wasLost = next === 'lost'
      },
    })
    return () => {
      window.clearTimeout(fetching)
      stop()
    }
  }, [queries])
  return state
}

function withChanges(hosts: Hosts, changed: ReadonlyMap<string, HostRow>): Hosts {
  if (changed.size === 0) return hosts
  return { ...hosts, rows: hosts.rows.map((row) => changed.get(row.host) ?? row) }
}
