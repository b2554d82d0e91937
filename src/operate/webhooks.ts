import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Hook } from '../notify/webhook-request.ts'
import type { WebhookStore } from '../store/ports/webhooks.ts'

export const webhookLines = (reports: readonly WebhookReport[]): string[] =>
  reports.length === 0 ? ['No webhook is configured.'] : reports.flatMap(linesOf)

function linesOf({
  name,
  receiver,
  delivered,
  pending,
  dead,
  failing,
  lastFault,
  deadLetters,
}: WebhookReport): string[] {
  const trouble = failing && lastFault ? `, failing: ${lastFault}` : ''
  const letters = deadLetters.map(
    ({ id, type, host, tries, fault }) => `  dead: ${type} of ${host}, ${id}, ${tries} tries, ${fault}`,
  )
  return [`${name} to ${receiver}: ${delivered} delivered, ${pending} pending, ${dead} dead${trouble}`, ...letters]
}

/** Makes all pending and dead deliveries of a webhook due now. The running service sends them. */
export async function retryWebhook(
  name: string,
  hooks: readonly Hook[],
  store: Pick<WebhookStore, 'reviveDeliveries'>,
  now: number,
): Promise<string> {
  if (!hooks.some((hook) => hook.name === name)) {
    const names = hooks.map((hook) => hook.name).join(', ')
    throw new Error(`There is no webhook ${name}. ${names ? `Configured: ${names}.` : 'No webhook is configured.'}`)
  }
  const count = await store.reviveDeliveries(name, now)
  return `${count} ${count === 1 ? 'event will' : 'events will'} be sent again now.`
}
