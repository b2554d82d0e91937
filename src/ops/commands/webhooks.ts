import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { withParts } from './parts.ts'

export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('receivers of events')
  const list = onThisMachine(webhooks.command('list'))
    .description('show how each does, and what it was not given')
    .action(({ config, json }: Configured) =>
      withParts(config, async ({ webhookReport }) => {
        const { webhookLines } = await import('../webhooks.ts')
        const reports = await webhookReport()
        tell({ body: { webhooks: reports }, lines: () => webhookLines(reports) }, json)
      }),
    )
  withExample(withJson(list), 'drawbridge webhooks list --config /etc/drawbridge/drawbridge.yaml')
  const retry = onThisMachine(webhooks.command('retry <name>'))
    .description('let everything that waits or was given up be tried again now')
    .action((name: string, { config, json }: Configured) =>
      withParts(config, async ({ hooks, store, now }) => {
        const { retryWebhook } = await import('../webhooks.ts')
        const sentence = await retryWebhook(name, hooks, store, now())
        tell({ body: { name, done: sentence }, lines: () => [sentence] }, json)
      }),
    )
  withExample(withJson(retry), 'drawbridge webhooks retry chat --config /etc/drawbridge/drawbridge.yaml')
}
