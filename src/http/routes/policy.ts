import type { Caller } from '../../authorize/caller.ts'
import type { App } from '../app.ts'
import { PolicyBody, problems } from '../schemas.ts'

export function policyRoutes(app: App, policy: (caller: Caller) => PolicyBody): void {
  app.get(
    '/api/policy',
    {
      schema: {
        operationId: 'getPolicy',
        tags: ['policy'],
        summary: 'The deployment policy, and what this caller may do',
        response: { 200: PolicyBody, ...problems() },
      },
    },
    async (request) => policy(request.caller),
  )
}
