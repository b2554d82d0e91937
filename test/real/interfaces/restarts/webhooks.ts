import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StoredEvent } from '../../../../src/model/event.ts'
import type { WebhookReceiver } from '../../../support/http/webhook-receiver.ts'
import { applied, removed } from '../../../support/lab/exposure.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { withStore } from '../../../support/lab/lab-store.ts'
import { command } from '../../../support/programs/command.ts'
import { until } from '../../../support/until.ts'

const PATIENCE_MS = 40_000

/** The lab tells `all` every event, and `one` the removal of poison.lab.test, in one try. */
export function webhooks(lab: () => TestLab, receiver: WebhookReceiver, secret: string): void {
  const said = async (...args: string[]) =>
    (await command(['webhooks', ...args, '--config', join(lab().state, 'drawbridge.yaml')])).stdout
  const stored = (): Promise<StoredEvent[]> => withStore(lab(), (store) => store.readEvents(0, 10_000))
  const byHost = (ids: readonly { id: string; host: string }[]) =>
    Object.fromEntries([...Map.groupBy(ids, ({ host }) => host)].map(([host, of]) => [host, of.map(({ id }) => id)]))

  /** Every event since the first that came is there, once by id, in the order of its host. */
  async function expectAll(): Promise<void> {
    const first = receiver.received[0]?.body.seq ?? 0
    const wanted = async () => (await stored()).filter(({ seq }) => seq >= first)
    await until('everything has come', async () => receiver.received.length >= (await wanted()).length, PATIENCE_MS)
    const told = (await wanted()).filter(({ id }) => receiver.received.some((message) => message.id === id))
    expect(byHost(receiver.received.map(({ id, body }) => ({ id, host: body.data.host })))).toEqual(byHost(told))
    expect(told.length).toBe(receiver.received.length)
    expect(receiver.forged).toEqual([])
  }

  test('an event comes signed, as it is in the stream', async () => {
    const { planId, host } = await applied(lab(), { subdomain: 'signed' })
    const isApply = ({ body }: { body: { type: string; data: { host: string } } }) =>
      body.type === 'exposure.applied' && body.data.host === host
    await until('the apply is told', () => receiver.received.some(isApply), PATIENCE_MS)
    const message = receiver.received.find(isApply)
    expect(message?.body).toMatchObject({ id: message?.id, data: { planId, facts: { server: '25', port: 3000 } } })
    await removed(lab(), planId)
    await expectAll()
  })

  test.runIf(process.env.CAMPAIGN)(
    'a receiver that was ill, hung, was away and came back has every event once, in order, though the service was killed',
    async () => {
      receiver.mode = 'fail'
      const ill = await applied(lab(), { subdomain: 'ill' })
      const tries = receiver.tries
      await until('it was tried', () => receiver.tries > tries, PATIENCE_MS)
      receiver.mode = 'hang'
      await removed(lab(), ill.planId)
      const hung = await applied(lab(), { subdomain: 'hung' })
      await until('it was tried once more', () => receiver.tries > tries + 1, PATIENCE_MS)
      await lab().killService()
      await receiver.close()
      await removed(lab(), hung.planId)
      const away = await applied(lab(), { subdomain: 'away' })
      await lab().killService()
      receiver.mode = 'ok'
      await receiver.listen()
      await removed(lab(), away.planId)
      await expectAll()
      const ofExposures = receiver.received.filter(({ body }) => body.type.startsWith('exposure.'))
      const types = (host: string) =>
        ofExposures.filter(({ body }) => body.data.host === host).map(({ body }) => body.type)
      for (const { host } of [ill, hung, away]) expect(types(host)).toEqual(['exposure.applied', 'exposure.removed'])
    },
  )

  test('what is given up is a dead letter that can be seen and tried again; a redirect is not followed', async () => {
    receiver.mode = 'redirect'
    const { planId, host } = await applied(lab(), { subdomain: 'poison' })
    await removed(lab(), planId)
    const hookOne = async () => {
      const { body } = await lab().call({ path: '/api/webhooks' })
      return body.webhooks.find(({ name }: { name: string }) => name === 'one')
    }
    await until('it was given up', async () => (await hookOne()).dead === 1, PATIENCE_MS)
    expect(await hookOne()).toMatchObject({
      receiver: new URL(receiver.url).origin,
      pending: 0,
      lastFault: 'HTTP 307',
      deadLetters: [{ type: 'exposure.removed', host, tries: 1, fault: 'HTTP 307' }],
    })
    receiver.mode = 'ok'
    const outside = await lab().call({ path: '/api/webhooks', from: 'public' })
    expect([outside.status, outside.body.code]).toEqual([403, 'internal_network_required'])
    expect(await said('list')).toContain('one')
    expect(await said('retry', 'one')).toContain('1 event')
    await until('it has arrived', async () => (await hookOne()).delivered === 1, PATIENCE_MS)
    expect(await hookOne()).toMatchObject({ dead: 0, deadLetters: [] })
  })

  test('neither the secret nor the address of a receiver is in the log', () => {
    const log = readFileSync(lab().description.log, 'utf8')
    expect(log).toContain('webhook_delivery_failed')
    expect(log).not.toContain(secret)
    expect(log).not.toContain(receiver.url)
  })
}
