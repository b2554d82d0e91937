import type * as body from './bodies.ts'

/** The largest page that the service returns. */
const PAGE = 500

type HostsPage = (query: body.HostsQuery) => Promise<body.Hosts>
type EventPage = (query: body.RecentEventsQuery) => Promise<body.RecentEvents>
type AuditPage = (query: body.AuditQuery) => Promise<body.AuditPage>

/** Reads all pages: every host that matches the query, or the first `limit`. A host that moves between pages is listed once. */
export async function allHosts(page: HostsPage, query: body.HostsQuery): Promise<body.Hosts> {
  const most = rowsWanted(query.limit)
  if (Number.isNaN(most)) return page(query)
  const rows = new Map<string, body.HostRow>()
  // Only the first page has them.
  let patterns: body.Hosts['patterns']
  for (let cursor = query.cursor; ; ) {
    const limit = String(Math.min(PAGE, most - rows.size))
    const answer = await page({ ...query, limit, ...(cursor !== undefined && { cursor }) })
    for (const row of answer.hosts) rows.set(row.host, row)
    patterns ??= answer.patterns
    if (answer.nextCursor === null || rows.size >= most)
      return { ...answer, hosts: [...rows.values()], ...(patterns && { patterns }) }
    cursor = answer.nextCursor
  }
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
