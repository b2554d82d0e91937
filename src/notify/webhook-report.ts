import type { WebhookState, WebhookStore } from '../store/ports/webhooks.ts'
import type { Hook } from './webhook-request.ts'

export interface WebhookReport extends WebhookState {
  readonly name: string
  /** The origin of the receiver, without path and query, because these can contain a secret. */
  readonly receiver: string
  readonly events: readonly string[] | null
  readonly hosts: readonly string[] | null
  /** The newest first. `dead` counts all of them. */
  readonly deadLetters: readonly DeadLetterReport[]
}

interface DeadLetterReport {
  readonly id: string
  readonly type: string
  readonly host: string
  readonly at: number
  readonly tries: number
  readonly fault: string
}

const MOST_LETTERS = 20

/** The state of every configured webhook. */
export const reportWebhooks = (
  hooks: readonly Hook[],
  store: Pick<WebhookStore, 'webhookState' | 'deadLetters'>,
): Promise<WebhookReport[]> =>
  Promise.all(
    hooks.map(async ({ name, url, types, hosts }) => {
      const letters = await store.deadLetters(name, MOST_LETTERS)
      return {
        ...(await store.webhookState(name)),
        name,
        receiver: new URL(url).origin,
        events: types ? [...types] : null,
        hosts: hosts ? [...hosts] : null,
        deadLetters: letters.map(({ event: { id, type, host, at }, tries, fault }) => ({
          id,
          type,
          host,
          at,
          tries,
          fault,
        })),
      }
    }),
  )
