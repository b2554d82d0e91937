import type { AuditLine } from '../../model/audit.ts'
import type { AuditStore } from '../../store/ports/audit.ts'
import type { App } from '../app.ts'
import { AuditPageBody, AuditPageQuery } from '../schemas/event-schemas.ts'
import { problems } from '../schemas/plan-schemas.ts'
import { rowsAsked } from '../schemas/schema-parts.ts'

export type AuditReader = Pick<AuditStore, 'readAudit' | 'auditHead'>

/** The audit as it stands, to callers inside. `drawbridge audit verify` says whether it is whole. */
export function auditRoutes(app: App, audit: AuditReader): void {
  app.get(
    '/api/audit',
    {
      config: { inside: true },
      schema: {
        operationId: 'readAudit',
        tags: ['events'],
        summary: 'Lines of the audit (internal network only)',
        querystring: AuditPageQuery,
        response: { 200: AuditPageBody, ...problems('invalid_request', 'internal_network_required') },
      },
    },
    async ({ query }) => {
      const limit = rowsAsked(query.limit, 100)
      const head = (await audit.auditHead())?.seq ?? 0
      const after = query.after === undefined ? Math.max(0, head - limit) : Number(query.after)
      const lines = await audit.readAudit(after, limit)
      const last = lines.at(-1)?.seq ?? head
      return { lines: lines.map(lineBody), head, nextAfter: last < head ? last : null }
    },
  )
}

const lineBody = ({ at, ...line }: AuditLine) => ({ ...line, at: new Date(at).toISOString() })
