import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type HostRow, type Hosts as HostsBody, Unreachable } from '../../src/client/index.ts'
import { refusalOf } from '../../src/client/refusal.ts'
import { client } from './client.ts'
import { follow, type LiveState } from './live.ts'
import { shifted } from './strips.ts'

export type { HostRow } from '../../src/client/index.ts'

/** The hosts that are loaded so far. `isWhole`: all hosts are loaded. */
export interface Hosts {
  readonly rows: readonly HostRow[]
  readonly total: number
  readonly isWhole: boolean
  /** How far the edges are from the store. Empty for callers outside. */
  readonly edges: NonNullable<HostsBody['edges']>
  /** The half hour that ends each strip, counted since 1970. */
  readonly halfHour: number
}

const KEY = ['hosts']
/** Enough for the tallest screen, so that the first page loads fast. */
const FIRST_PAGE = 100
/** The largest page of the service. */
const WHOLE_PAGE = 500
/** The stream sends something every 10 s. */
const SILENT_MS = 25_000
/** The list is loaded without the stream if the stream does not open in this time. */
const STREAM_WAIT_MS = 1_000

/** Loaded once. After that the stream of changes keeps it up to date. */
export const useHosts = () => {
  const queries = useQueryClient()
  return useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => fetchHosts(queries, signal),
    refetchInterval: ({ state }) => (state.status === 'error' ? 3_000 : false),
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
}

let tellOpened = () => {}
/** Resolves when the stream opens for the first time. Made here, because a screen asks for the list before the effect that opens the stream. */
const opened = new Promise<void>((resolve) => {
  tellOpened = resolve
})
/** Each opening of the stream is another object. Undefined: it is closed, and changes are missed. */
let opening: object | undefined

/** A change after the stream has opened is not missed, however long the list takes. A list from before that is read again. */
async function fetchHosts(queries: QueryClient, signal: AbortSignal): Promise<Hosts> {
  await Promise.race([opened, new Promise((resolve) => window.setTimeout(resolve, STREAM_WAIT_MS))])
  for (;;) {
    const began = opening
    const hosts = await fetchList(queries, signal)
    if (opening === undefined || opening === began) return hosts
  }
}

/** The first load shows a short page with the worst hosts while the rest loads. */
async function fetchList(queries: QueryClient, signal: AbortSignal): Promise<Hosts> {
  const isFirst = !queries.getQueryData<Hosts>(KEY)
  const body = await fetchPage({ sort: 'badge', limit: isFirst ? FIRST_PAGE : WHOLE_PAGE }, signal)
  if (body.nextCursor === null) return hostsOf(body.hosts, body)
  if (isFirst) queries.setQueryData<Hosts>(KEY, hostsOf(body.hosts, body))
  return hostsOf(await fetchAll(body.total, signal), { ...body, nextCursor: null })
}

/**
 * Every host by its name, from both ends at once: the service makes one page while this page reads the other. No host changes
 * its place in this order; one that comes or goes meanwhile is told by the stream.
 */
async function fetchAll(total: number, signal: AbortSignal): Promise<readonly HostRow[]> {
  const rows = new Map<string, HostRow>()
  let pagesLeft = Math.ceil(total / WHOLE_PAGE)
  const read = async (order: 'asc' | 'desc') => {
    for (let cursor: string | null | undefined; cursor !== null && pagesLeft > 0; ) {
      pagesLeft -= 1
      const place: { cursor?: string } = cursor === undefined ? {} : { cursor }
      const { hosts, nextCursor } = await fetchPage({ sort: 'host', order, limit: WHOLE_PAGE, ...place }, signal)
      for (const row of hosts) rows.set(row.host, row)
      cursor = nextCursor
    }
  }
  await Promise.all([read('asc'), read('desc')])
  return [...rows.values()]
}

const HALF_HOUR_MS = 1_800_000
const halfHourAt = (at: string): number => Math.floor(Date.parse(at) / HALF_HOUR_MS)

const hostsOf = (rows: readonly HostRow[], { total, nextCursor, edges = [], at }: HostsBody): Hosts => ({
  rows,
  total,
  isWhole: nextCursor === null,
  edges,
  halfHour: halfHourAt(at),
})

interface Asked {
  readonly sort: 'badge' | 'host'
  readonly order?: 'asc' | 'desc'
  readonly limit: number
  readonly cursor?: string
}

async function fetchPage({ limit, ...asked }: Asked, signal: AbortSignal): Promise<HostsBody> {
  const query = { ...asked, limit: String(limit) }
  const { data, error } = await client.api.GET('/api/hosts', { params: { query }, signal }).catch((cause: unknown) => {
    throw signal.aborted ? cause : new Unreachable(client.baseUrl, cause)
  })
  if (data === undefined) throw refusalOf(error, client.baseUrl)
  return data
}

export interface Live {
  readonly state: LiveState
  /** When the service last said that nothing is missing, by the clock of this machine. */
  readonly heardAt: number | undefined
}

/** Changes that wait to be drawn together. An undefined row is a host that is gone. */
type Waiting = Map<string, HostRow | undefined>

/** Keeps hosts and plans up to date while the page is open, and reports the state of the connection. */
export function useLiveHosts(): Live {
  const queries = useQueryClient()
  const [live, setLive] = useState<Live>({ state: 'connecting', heardAt: undefined })
  useEffect(() => {
    const waiting: Waiting = new Map()
    let edges: Pick<Hosts, 'edges'> | undefined
    let drawing: number | undefined
    let wasLost = false
    // Whatever is loaded by then may be older than a stream that opens later.
    const waited = window.setTimeout(() => {
      wasLost ||= opening === undefined
    }, STREAM_WAIT_MS)
    const update = (change: (hosts: Hosts) => Hosts) =>
      queries.setQueryData<Hosts>(KEY, (hosts) => hosts && change(hosts))
    const draw = () => {
      drawing = undefined
      // A list that is still loading could be older than these changes, so they wait for it.
      if (queries.isFetching({ queryKey: KEY }) > 0) {
        drawing = window.setTimeout(draw, 100)
        return
      }
      update((hosts) => withChanges(edges ? { ...hosts, ...edges } : hosts, waiting))
      waiting.clear()
      edges = undefined
    }
    const drawSoon = () => {
      // Many hosts can change at once, so they are drawn together.
      drawing ??= window.setTimeout(draw, 100)
    }
    const gather = (host: string, row: HostRow | undefined) => {
      waiting.set(host, row)
      drawSoon()
    }
    const stop = follow({
      path: '/api/hosts/changes',
      silentMs: SILENT_MS,
      events: {
        row: (text) => {
          const row = JSON.parse(text) as HostRow
          gather(row.host, row)
          void queries.invalidateQueries({ queryKey: ['history', row.host] })
        },
        gone: (text) => gather((JSON.parse(text) as { host: string }).host, undefined),
        edges: (text) => {
          edges = JSON.parse(text) as Pick<Hosts, 'edges'>
          drawSoon()
        },
        plan: (text) => {
          const { planId } = JSON.parse(text) as { planId: string }
          for (const queryKey of [['plan', planId], ['plans'], ['audit']]) void queries.invalidateQueries({ queryKey })
        },
        event: () => {
          for (const queryKey of [['events'], ['audit']]) void queries.invalidateQueries({ queryKey })
        },
        alive: (text) => {
          const { at } = JSON.parse(text) as { at: string }
          setLive({ state: 'live', heardAt: Date.now() })
          update((hosts) => withHalfHour(hosts, halfHourAt(at)))
        },
      },
      onState: (next) => {
        setLive(({ heardAt }) => ({ state: next, heardAt }))
        opening = next === 'live' ? {} : undefined
        if (next === 'live') tellOpened()
        if (next === 'live' && wasLost) void queries.invalidateQueries()
        wasLost = next === 'lost' || (wasLost && next !== 'live')
      },
    })
    return () => {
      window.clearTimeout(drawing)
      window.clearTimeout(waited)
      stop()
      opening = undefined
    }
  }, [queries])
  return live
}

function withChanges(hosts: Hosts, changed: Waiting): Hosts {
  if (changed.size === 0) return hosts
  const rows = hosts.rows.flatMap((row) => (changed.has(row.host) ? (changed.get(row.host) ?? []) : row))
  const known = new Set(hosts.rows.map(({ host }) => host))
  const added = [...changed].flatMap(([host, row]) => (row && !known.has(host) ? row : []))
  return { ...hosts, rows: [...rows, ...added], total: hosts.total + rows.length + added.length - hosts.rows.length }
}

/** The service sends no row when only the time goes on, so the strips are moved here. */
function withHalfHour(hosts: Hosts, halfHour: number): Hosts {
  const passed = halfHour - hosts.halfHour
  if (passed <= 0) return hosts
  return { ...hosts, halfHour, rows: hosts.rows.map((row) => ({ ...row, strip: shifted(row, passed) })) }
}
