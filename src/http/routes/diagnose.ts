import type { Diagnosis } from '../../diagnose/diagnose.ts'
import type { Diagnoser } from '../../usecases/diagnoser.ts'
import type { App } from '../app.ts'
import { DiagnosisBody } from '../schemas/diagnosis-schemas.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { HostQuery } from '../schemas/status-schemas.ts'
import { tellAge, type Unconfirmed } from './age.ts'
import { canonicalHost } from './host-body.ts'

interface DiagnoseParts {
  readonly diagnoser: Diagnoser
  readonly upToDate: (host: string) => Promise<void>
  readonly unconfirmedMs: Unconfirmed
}

export function diagnoseRoutes(app: App, { diagnoser, upToDate, unconfirmedMs }: DiagnoseParts): void {
  app.get(
    '/api/diagnose',
    {
      config: { budget: 'diagnose' },
      schema: {
        operationId: 'diagnoseHost',
        tags: ['status'],
        summary: 'Inspect a host now, link by link, and name the cause; changes nothing',
        querystring: HostQuery,
        response: { 200: DiagnosisBody, ...problems('invalid_request', 'host_not_found') },
      },
    },
    async ({ query, caller }, reply) => {
      const host = canonicalHost(query.host)
      await upToDate(host)
      const diagnosis = await diagnoser.diagnose(host, caller)
      tellAge(reply, unconfirmedMs())
      return diagnosisBody(diagnosis)
    },
  )
}

const diagnosisBody = ({ checkedAt, cause, ...diagnosis }: Diagnosis): DiagnosisBody => ({
  ...diagnosis,
  listen: [...diagnosis.listen],
  chain: [...diagnosis.chain],
  cause: { ...cause, acts: [...cause.acts] },
  checkedAt: new Date(checkedAt).toISOString(),
})
