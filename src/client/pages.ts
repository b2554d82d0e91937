import type * as body from './bodies.ts'

/** The most rows that the service gives in one answer. */
const PAGE = 500

type HostsPage = (query: body.HostsQuery) => Promise<body.Hosts>
type AuditPage = (query: body.AuditQuery) => Promise<body.AuditPage>

/** Hosts of as many pages as it takes: all that fit the query, or `limit` of them. A host that moves meanwhile is told once. */
export async function allHosts(page: HostsPage, query: body.HostsQuery): Promise<body.Hosts> {
  const most = wanted(query.limit)
  if (Number.isNaN(most)) return page(query)
  const rows = new Map<string, body.HostRow>()
  for (let cursor = query.cursor; ; ) {
    const limit = String(Math.min(PAGE, most - rows.size))
    const answer = await page({ ...query, limit, ...(cursor !== undefined && { cursor }) })
    for (const row of answer.hosts) rows.set(row.host, row)
    if (answer.nextCursor === null || rows.size >= most) return { ...answer, hosts: [...rows.values()] }
    cursor = answer.nextCursor
  }
}

/** Lines of as many pages as it takes: those after a place, else the newest. */
export async function allAuditLines(page: AuditPage, query: body.AuditQuery): Promise<body.AuditPage> {
  const most = wanted(query.limit)
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

/** What is no number is left to the service to refuse. */
const wanted = (limit: string | undefined): number =>
  limit === undefined ? Number.POSITIVE_INFINITY : /^[1-9][0-9]*$/.test(limit) ? Number(limit) : Number.NaN
