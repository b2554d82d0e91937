import type { AuditLine } from '../../model/audit.ts'
import type { AuditStore } from '../../store/ports/audit.ts'
import type { App } from '../app.ts'
import { AuditPageBody, AuditPageQuery } from '../schemas/event-schemas.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { pageLimit } from '../schemas/schema-parts.ts'
import { tellAge, type Unconfirmed } from './age.ts'

export type AuditReader = Pick<AuditStore, 'readAudit' | 'auditHead'>

/** Reads audit lines, for internal callers. `drawbridge audit verify` checks the chain. */
export function auditRoutes(app: App, audit: AuditReader, unconfirmedMs: Unconfirmed): void {
  app.get(
    '/api/audit',
    {
      config: { internalOnly: true },
      schema: {
        operationId: 'readAudit',
        tags: ['events'],
        summary: 'Lines of the audit (internal network only)',
        querystring: AuditPageQuery,
        response: { 200: AuditPageBody, ...problems('invalid_request', 'internal_network_required') },
      },
    },
    async ({ query }, reply) => {
      const limit = pageLimit(query.limit, 100)
      const head = (await audit.auditHead())?.seq ?? 0
      const after = query.after === undefined ? Math.max(0, head - limit) : Number(query.after)
      const lines = await audit.readAudit(after, limit)
      tellAge(reply, unconfirmedMs())
      const last = lines.at(-1)?.seq ?? head
      return { lines: lines.map(lineBody), head, nextAfter: last < head ? last : null }
    },
  )
}

const lineBody = ({ at, ...line }: AuditLine) => ({ ...line, at: new Date(at).toISOString() })
