import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewEvent, StoredEvent } from '../../../src/model/event.ts'
import { deliveryPause } from '../../../src/notify/webhook-queue.ts'
import { type Hook, keyOf, type Send, type Sent, signedHeaders } from '../../../src/notify/webhook-request.ts'
import { WebhookSender } from '../../../src/notify/webhook-sender.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { until } from '../../support/until.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('the standardwebhooks library accepts the signature, and rejects a changed body or id', () => {
  const body = '{"type":"exposure.applied"}'
  const headers = signedHeaders(keyOf(SECRET), 'evt_1', Date.now(), body)
  const verifier = new Webhook(SECRET)
  expect(verifier.verify(body, headers)).toEqual({ type: 'exposure.applied' })
  expect(() => verifier.verify(`${body} `, headers)).toThrow()
  expect(() => verifier.verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow()
})

describe('the pause after a failed attempt', () => {
  test('doubles from one second to two hours, with a spread of a fifth', () => {
    expect([1, 2, 3, 4].map((tries) => deliveryPause(tries, 0.5))).toEqual([1_000, 2_000, 4_000, 8_000])
    expect([deliveryPause(3, 0), deliveryPause(3, 1)]).toEqual([3_200, 4_800])
    expect([deliveryPause(14, 0.5), deliveryPause(99, 0.5)]).toEqual([7_200_000, 7_200_000])
  })

  test('is as long as the receiver asks, up to two hours', () => {
    expect(deliveryPause(1, 0.5, 60_000)).toBe(60_000)
    expect(deliveryPause(1, 0.5, 86_400_000)).toBe(7_200_000)
  })

  test('adds up to about 34 hours over 30 attempts', () => {
    const whole = Array.from({ length: 29 }, (_, i) => deliveryPause(i + 1, 0.5)).reduce((sum, ms) => sum + ms, 0)
    expect(whole / 3_600_000).toBeCloseTo(34.3, 0)
  })
})

describe('the webhook sender', () => {
  let store: Store
  let senders: WebhookSender[]
  beforeEach(async () => {
    senders = []
    leaseAsked = []
    store = (await storeOfTest()).store
    await store.openWebhook('chat')
  })
  afterEach(() => Promise.all(senders.map((sender) => sender.stop())))

  const OK: Sent = { ok: true }
  const FAILED: Sent = { ok: false, fault: 'HTTP 500', retryAfterMs: 0 }
  const hook = (change: Partial<Hook> = {}): Hook => ({
    ...{ name: 'chat', url: 'http://127.0.0.1:9/', key: keyOf(SECRET), tries: 3, timeoutMs: 1_000 },
    ...change,
  })
  let now = 1_790_000_000_000
  /** How much later it is by the monotonic clock than by that of the machine. */
  let later = 0
  /** The instances that have asked for the lease. */
  let leaseAsked: string[]
  const deliver = (send: Send, change: Partial<Hook> = {}, instance = 'one'): WebhookSender => {
    const hooks = [hook(change)]
    return deliverTo(() => hooks, send, instance)
  }
  const deliverTo = (hooks: () => readonly Hook[], send: Send, instance = 'one'): WebhookSender => {
    const log = createLog('silent', [])
    const watched: Store = {
      ...store,
      async takeLease(name, holder, at, ms) {
        const lease = await store.takeLease(name, holder, at, ms)
        leaseAsked.push(holder)
        return lease
      },
    }
    const parts = {
      store: watched,
      log,
      send,
      instance,
      leaseMs: 30_000,
      clock: { ...systemClock, now: () => now, monotonic: () => systemClock.monotonic() + later },
      chance: () => 0.5,
    }
    const sender = new WebhookSender(hooks, parts)
    senders.push(sender)
    sender.start()
    return sender
  }
  const happen = (host: string, type: NewEvent['type'] = 'exposure.applied') =>
    store.appendEvent({ at: now, type, host, facts: {} })
  const nameOf = ({ host, seq }: StoredEvent) => `${host} ${seq}`

  test('sends the events of one host in order, and different hosts at the same time', async () => {
    for (const host of ['a', 'a', 'b', 'a', 'b']) await happen(host)
    const sent: string[] = []
    const under = new Map<string, number>()
    let most = 0
    deliver(async (_hook, event) => {
      under.set(event.host, (under.get(event.host) ?? 0) + 1)
      expect(under.get(event.host)).toBe(1)
      most = Math.max(
        most,
        [...under.values()].reduce((sum, one) => sum + one, 0),
      )
      await until('events of both hosts are being sent', () => most === 2)
      under.set(event.host, 0)
      sent.push(nameOf(event))
      return OK
    })
    await until('all are sent', () => sent.length === 5)
    expect(sent.filter((one) => one.startsWith('a'))).toEqual(['a 1', 'a 2', 'a 4'])
    expect(sent.filter((one) => one.startsWith('b'))).toEqual(['b 3', 'b 5'])
    expect(most).toBe(2)
  })

  test('retries after a pause, gives up after the last attempt, and then sends the next event of that host', async () => {
    await happen('a')
    await happen('a')
    const tried: string[] = []
    deliver(async (_hook, event) => {
      tried.push(nameOf(event))
      return event.seq === 1 ? FAILED : OK
    })
    for (const tries of [1, 2, 3]) {
      await until(`try ${tries}`, async () => tried.length >= tries)
      await until('it is noted', async () => (await store.webhookState('chat')).lastFailedAt === now)
      now += 10_000
    }
    await until('the next one has arrived', async () => (await store.webhookState('chat')).delivered === 1)
    expect(tried).toEqual(['a 1', 'a 1', 'a 1', 'a 2'])
    expect(await store.deadLetters('chat', 9)).toMatchObject([{ tries: 3, fault: 'HTTP 500', event: { seq: 1 } }])
  })

  test('sends nothing that the monitor saw of a muted host', async () => {
    const sent: string[] = []
    deliver(async (_hook, event) => {
      sent.push(nameOf(event))
      return OK
    })
    await store.appendEvent({ at: now, type: 'host.badge', host: 'a', facts: { badge: 'DOWN', muted: true } })
    await happen('a', 'exposure.blocked')
    await until('the other event has arrived', () => sent.length > 0)
    expect(sent).toEqual(['a 2'])
    expect((await store.webhookState('chat')).pending).toBe(0)
  })

  test('sends only the types and hosts that the webhook lists', async () => {
    const sent: string[] = []
    deliver(
      async (_hook, event) => {
        sent.push(nameOf(event))
        return OK
      },
      { types: new Set(['exposure.blocked']), hosts: new Set(['a']) },
    )
    await happen('a')
    await happen('b', 'exposure.blocked')
    await happen('a', 'exposure.blocked')
    await until('it is sent', () => sent.length > 0)
    // A later event that is sent proves that the earlier ones were skipped.
    await happen('a', 'exposure.blocked')
    await until('the later event is sent', () => sent.includes('a 4'))
    expect(sent).toEqual(['a 3', 'a 4'])
  })

  test('runs on one instance at a time; the other takes over when the first stops', async () => {
    const sent: string[] = []
    const by = (name: string): Send => {
      return async (_hook, event) => {
        sent.push(`${nameOf(event)} by ${name}`)
        return OK
      }
    }
    const first = deliver(by('one'), {}, 'one')
    await happen('a')
    await until('it is sent', () => sent.length === 1)
    deliver(by('two'), {}, 'two')
    await until('the second instance has asked for the lease', () => leaseAsked.includes('two'))
    await happen('a')
    await until('it is sent', () => sent.length === 2)
    expect(sent).toEqual(['a 1 by one', 'a 2 by one'])
    await first.stop()
    await happen('a')
    await until('it is sent', () => sent.length === 3)
    expect(sent.at(-1)).toBe('a 3 by two')
  })

  test('stores no result after another instance has taken its lease', async () => {
    await happen('a')
    const answer = Promise.withResolvers<Sent>()
    let isSending = false
    const sender = deliver(async () => {
      isSending = true
      return answer.promise
    })
    await until('it is being sent', () => isSending)
    expect(await store.takeLease('webhooks', 'another', now + 30_000, 60_000)).toBeDefined()
    now += 30_000
    answer.resolve(OK)
    await sender.stop()
    expect(await store.dueDeliveries('chat', now, 0, 8)).toHaveLength(1)
  })

  describe('when a clock that was ahead by a year is set right', () => {
    const YEAR_MS = 365 * 86_400_000

    test('retries what waits until then', async () => {
      await happen('a')
      now += YEAR_MS
      let tries = 0
      deliver(async () => {
        tries += 1
        return tries === 1 ? FAILED : OK
      })
      await until('the failure is noted', async () => (await store.webhookState('chat')).failing)
      now -= YEAR_MS
      await until('it has arrived', async () => (await store.webhookState('chat')).delivered === 1)
    })

    test('renews its lease, so that another instance takes over when this one dies', async () => {
      now += YEAR_MS
      deliver(async () => OK)
      await until('the lease is taken', () => leaseAsked.length === 1)
      now -= YEAR_MS
      later += 15_000
      await until('it is taken again', () => leaseAsked.length === 2)
      expect(await store.findLease('webhooks', now)).toMatchObject({ expiresAt: now + 30_000 })
    })

    test('stores no result after its lease is over', async () => {
      await happen('a')
      const answer = Promise.withResolvers<Sent>()
      let isSending = false
      const sender = deliver(async () => {
        isSending = true
        return answer.promise
      })
      await until('it is being sent', () => isSending)
      expect(await store.takeLease('webhooks', 'another', now + 30_000, 60_000)).toBeDefined()
      now -= YEAR_MS
      later += 30_000
      answer.resolve(OK)
      await sender.stop()
      expect(await store.webhookState('chat')).toMatchObject({ pending: 1, delivered: 0 })
      now += YEAR_MS
    })
  })

  test('keeps an unfinished delivery for the next instance when it is stopped', async () => {
    await happen('a')
    const { promise: sending, resolve: begin } = Promise.withResolvers<void>()
    const first = deliver((_hook, _event, _at, gone) => {
      begin()
      return new Promise((end) => gone.addEventListener('abort', () => end(FAILED)))
    })
    await sending
    await first.stop()
    expect(await store.webhookState('chat')).toMatchObject({ pending: 1, failing: false })
  })

  describe('a hook that is exchanged while it delivers', () => {
    const [former, present] = ['http://127.0.0.1:9/former', 'http://127.0.0.1:9/present']
    let hooks: readonly Hook[]
    let isAskedAgain: PromiseWithResolvers<void>
    let begun: string[]
    let answers: PromiseWithResolvers<Sent>[]
    beforeEach(() => {
      hooks = [hook({ url: former })]
      isAskedAgain = Promise.withResolvers()
      begun = []
      answers = []
    })

    /** Begins to send the first event of each of two hosts, and exchanges the hook in the middle. */
    const exchange = async (next: readonly Hook[]): Promise<WebhookSender> => {
      for (const host of ['a', 'b', 'a', 'b', 'a', 'b']) await happen(host)
      const sender = deliverTo(
        () => {
          if (hooks === next) isAskedAgain.resolve()
          return hooks
        },
        ({ url }, { id }, _at, gone) => {
          begun.push(`${url} ${id}`)
          if (url !== former) return Promise.resolve(OK)
          const answer = Promise.withResolvers<Sent>()
          gone.addEventListener('abort', () => answer.resolve(FAILED))
          answers.push(answer)
          return answer.promise
        },
      )
      await until('two events are under way', () => begun.length === 2)
      hooks = next
      await isAskedAgain.promise
      return sender
    }
    const toFormer = () => begun.filter((one) => one.startsWith(former))

    test('sends nothing more to its former receiver, and no event to both', async () => {
      await exchange([hook({ url: present })])
      await until('all have arrived', async () => {
        for (const answer of answers) answer.resolve(OK)
        return (await store.webhookState('chat')).delivered === 6
      })
      expect(toFormer()).toHaveLength(2)
      const ids = begun.map((one) => one.split(' ')[1])
      expect(ids).toHaveLength(6)
      expect(new Set(ids).size).toBe(6)
    })

    test('sends nothing more once it is removed', async () => {
      const sender = await exchange([])
      for (const answer of answers) answer.resolve(OK)
      await until('both results are stored', async () => (await store.webhookState('chat')).delivered === 2)
      await sender.stop()
      expect(begun).toHaveLength(2)
      expect(await store.webhookState('chat')).toMatchObject({ delivered: 2, pending: 4 })
    })

    test('does not hold up the end of the service', async () => {
      const sender = await exchange([])
      await sender.stop()
      expect(await store.webhookState('chat')).toMatchObject({ delivered: 0, pending: 6, failing: false })
    })
  })

  test('begins no delivery while it is stopped', async () => {
    for (const host of ['a', 'a', 'a']) await happen(host)
    const begun: string[] = []
    const answer = Promise.withResolvers<Sent>()
    const sender = deliver((_hook, event) => {
      begun.push(nameOf(event))
      return answer.promise
    })
    await until('the first is under way', () => begun.length === 1)
    const stopped = sender.stop()
    answer.resolve(OK)
    await stopped
    expect(begun).toEqual(['a 1'])
    expect(await store.webhookState('chat')).toMatchObject({ delivered: 1, pending: 2 })
  })
})
