import { useQuery } from '@tanstack/react-query'
import type { AuditPage } from '../../src/client/index.ts'
import { client } from './client.ts'

export type AuditLine = AuditPage['lines'][number]

/** The newest lines of the audit, newest first. Only for callers inside. The stream of changes says when there are more. */
export const useAudit = (isAllowed: boolean) =>
  useQuery({
    queryKey: ['audit'],
    queryFn: async () => (await client.audit({ limit: '500' })).lines.toReversed(),
    enabled: isAllowed,
  })
