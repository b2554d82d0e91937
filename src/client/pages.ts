import type * as body from './bodies.ts'

/** The largest page that the service returns. */
const PAGE = 500

type HostsPage = (query: body.HostsQuery) => Promise<body.Hosts>
type EventPage = (query: body.RecentEventsQuery) => Promise<body.RecentEvents>
type AuditPage = (query: body.AuditQuery) => Promise<body.AuditPage>

/** The pages of hosts that match the query, or of the first `limit`. */
async function* hostPages(
  page: HostsPage,
  query: body.HostsQuery,
  known: Promise<body.Hosts>[],
): AsyncGenerator<body.Hosts, void> {
  const most = rowsWanted(query.limit)
  let count = 0
  for (let at = 0, cursor = query.cursor; ; at += 1) {
    const limit = Number.isNaN(most) ? query.limit : String(Math.min(PAGE, most - count))
    const asked =
      known[at] ?? page({ ...query, ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) })
    known[at] = asked
    const answer = await asked
    yield answer
    count += answer.hosts.length
    if (answer.nextCursor === null || !(count < most)) return
    cursor = answer.nextCursor
  }
}

export type AllHosts = Promise<body.Hosts> & AsyncIterable<body.HostRow>

/**
 * Reads all pages: every host that matches the query, or the first `limit`. A host that moves between pages is listed once. Awaited, it
 * is one list; iterated, it gives each host as soon as its page is there. No page is read twice.
 */
export function allHosts(page: HostsPage, query: body.HostsQuery): AllHosts {
  const known: Promise<body.Hosts>[] = []
  async function* rows(): AsyncGenerator<body.HostRow, void> {
    const seen = new Set<string>()
    for await (const { hosts } of hostPages(page, query, known))
      for (const row of hosts) {
        if (!seen.has(row.host)) yield row
        seen.add(row.host)
      }
  }
  const whole = collected(hostPages(page, query, known))
  // Who only iterates gets a failure there.
  whole.catch(() => undefined)
  return Object.assign(whole, { [Symbol.asyncIterator]: rows })
}

async function collected(pages: AsyncIterable<body.Hosts>): Promise<body.Hosts> {
  const rows = new Map<string, body.HostRow>()
  let last: body.Hosts | undefined
  // Only the first page has them.
  let patterns: body.Hosts['patterns']
  for await (const answer of pages) {
    for (const row of answer.hosts) rows.set(row.host, row)
    patterns ??= answer.patterns
    last = answer
  }
  if (!last) throw new Error('The service gave no page of hosts.')
  return { ...last, hosts: [...rows.values()], ...(patterns && { patterns }) }
}

/** Reads as many pages as `limit` lines need: the lines after `after`, or else the newest lines. */
export async function allAuditLines(page: AuditPage, query: body.AuditQuery): Promise<body.AuditPage> {
  const most = rowsWanted(query.limit)
  if (!(most > PAGE)) return page(query)
  const newest = async () => String(Math.max(0, (await page({ limit: '1' })).head - most))
  const lines: body.AuditPage['lines'] = []
  for (let after = query.after ?? (await newest()); ; ) {
    const answer = await page({ after, limit: String(Math.min(PAGE, most - lines.length)) })
    lines.push(...answer.lines)
    if (answer.nextAfter === null || lines.length >= most) return { ...answer, lines }
    after = String(answer.nextAfter)
  }
}

/** Reads as many pages as `limit` events need, back from `before` or from the newest event. */
export async function recentEvents(page: EventPage, query: body.RecentEventsQuery): Promise<body.RecentEvents> {
  const most = query.limit === undefined ? PAGE : rowsWanted(query.limit)
  if (Number.isNaN(most)) return page(query)
  const events: body.RecentEvents['events'] = []
  // A stream goes on from the head of the first page: later ones may tell a newer head than they were asked for.
  let head: number | undefined
  for (let before = query.before; ; ) {
    const limit = String(Math.min(PAGE, most - events.length))
    const answer = await page({ ...query, limit, ...(before !== undefined && { before }) })
    head ??= answer.head
    events.unshift(...answer.events)
    if (answer.nextBefore === null || events.length >= most) return { ...answer, head, events }
    before = String(answer.nextBefore)
  }
}

/** NaN for an invalid limit: the request is sent as it is, and the service refuses it. */
const rowsWanted = (limit: string | undefined): number =>
  limit === undefined ? Number.POSITIVE_INFINITY : /^[1-9][0-9]*$/.test(limit) ? Number(limit) : Number.NaN
