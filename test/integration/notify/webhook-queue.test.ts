import { expect, test } from 'vitest'
import { WebhookQueue } from '../../../src/notify/webhook-queue.ts'
import type { Hook, Sent } from '../../../src/notify/webhook-request.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { until } from '../../support/until.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const ROUND_MS = 250
const HOOK: Hook = { name: 'chat', url: 'http://127.0.0.1:9/', key: Buffer.alloc(32), tries: 30, timeoutMs: 1_000 }

test('a store with a backlog of a receiver that is gone is asked when something may be due', async () => {
  const { store } = await storeOfTest()
  const clock = new VirtualClock()
  await store.openWebhook(HOOK.name)
  let asked = 0
  const dueDeliveries: typeof store.dueDeliveries = (...args) => {
    asked += 1
    return store.dueDeliveries(...args)
  }
  let answer: Sent = { ok: false, fault: 'refused', retryAfterMs: 3_600_000 }
  const sent: string[] = []
  const queue = new WebhookQueue(
    HOOK,
    {
      ...{ store: { ...store, dueDeliveries }, log: createLog('silent', []), clock, chance: () => 0.5 },
      send: async (_hook, { host }) => {
        sent.push(host)
        return answer
      },
    },
    () => undefined,
  )
  const gone = new AbortController().signal
  const nothingIsDue = async () => (await store.dueDeliveries(HOOK.name, clock.now(), 86_400_000, 1)).length === 0
  const round = async () => {
    await queue.round(await store.eventHead(), gone)
    await clock.advance(ROUND_MS)
  }
  const happen = (host: string) => store.appendEvent({ at: clock.now(), type: 'exposure.applied', host, facts: {} })

  for (const host of ['a.test', 'a.test', 'b.test']) await happen(host)
  await round()
  await until('both were tried', nothingIsDue)
  asked = 0
  for (let passed = 0; passed < 60_000; passed += ROUND_MS) await round()
  expect([sent, asked <= 60]).toEqual([['a.test', 'b.test'], true])

  await happen('c.test')
  await round()
  expect(sent).toEqual(['a.test', 'b.test', 'c.test'])
  await until('it was tried', nothingIsDue)

  answer = { ok: true }
  await store.reviveDeliveries(HOOK.name, clock.now())
  for (let i = 0; i < 5; i += 1) await round()
  await until('all have arrived', async () => (await store.webhookState(HOOK.name)).pending === 0)
  expect(sent.slice(3).toSorted()).toEqual(['a.test', 'a.test', 'b.test', 'c.test'])
})
