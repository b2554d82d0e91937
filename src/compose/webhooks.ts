import type { Config } from '../config/config.ts'
import { reportWebhooks, type WebhookReport } from '../notify/webhook-report.ts'
import { type Hook, keyOf, sender } from '../notify/webhook-request.ts'
import { WebhookSender } from '../notify/webhook-sender.ts'
import type { Clock } from '../primitives/clock.ts'
import { derived } from '../primitives/derived.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'

interface WebhookSources {
  readonly store: Store
  readonly instance: string
  readonly leaseMs: number
  readonly log: Log
  readonly clock: Clock
}

/** The webhooks of the configuration, which may be read again at any time. */
export function composeWebhooks(config: Config, sources: WebhookSources) {
  const hooks = derived(() => config.webhooks, hooksOf)
  return {
    hooks,
    webhookReport: (): Promise<readonly WebhookReport[]> => reportWebhooks(hooks(), sources.store),
    webhookSender: new WebhookSender(hooks, { ...sources, chance: Math.random, send: sender(sources.clock) }),
  }
}

const hooksOf = (webhooks: Config['webhooks']): Hook[] =>
  webhooks.map(({ name, url, secret, events, hosts, tries, timeoutSeconds }) => ({
    name,
    url: url.reveal(),
    key: keyOf(secret.reveal()),
    types: events && new Set(events),
    hosts: hosts && new Set(hosts),
    tries,
    timeoutMs: timeoutSeconds * 1000,
  }))
