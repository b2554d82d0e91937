import type { WebhookReport } from '../../notify/report.ts'
import type { App } from '../app.ts'
import { WebhooksBody } from '../event-schemas.ts'
import { problems } from '../schemas.ts'

/** How every webhook does, and what it was not given: to callers inside. */
export function webhookRoutes(app: App, report: () => Promise<readonly WebhookReport[]>): void {
  app.get(
    '/api/webhooks',
    {
      config: { inside: true },
      schema: {
        operationId: 'listWebhooks',
        tags: ['events'],
        summary: 'How every webhook does, with its dead letters (internal network only)',
        response: { 200: WebhooksBody, ...problems('internal_network_required') },
      },
    },
    async () => ({ webhooks: (await report()).map(webhookBody) }),
  )
}

const webhookBody = ({
  lastDeliveredAt,
  lastFailedAt,
  lastFault,
  deadLetters,
  events,
  hosts,
  ...report
}: WebhookReport) => ({
  ...report,
  events: events && [...events],
  hosts: hosts && [...hosts],
  lastDeliveredAt: time(lastDeliveredAt),
  lastFailedAt: time(lastFailedAt),
  lastFault: lastFault ?? null,
  deadLetters: deadLetters.map(({ at, ...letter }) => ({ ...letter, at: new Date(at).toISOString() })),
})

const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())
