import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { launcher } from '../../../../lab/checkout.ts'
import { createClient, type DrawbridgeClient } from '../../../../src/client/index.ts'
import { startWebBackend } from '../../../support/backends/web-backend.ts'
import { follow } from '../../../support/http/event-stream.ts'
import {
  applied,
  granted,
  invariants,
  planned,
  planOf,
  planRequest,
  removed,
  runWith,
} from '../../../support/lab/exposure.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { withStore } from '../../../support/lab/lab-store.ts'
import { until } from '../../../support/until.ts'

/** What happens to those who run, follow and listen when the service is killed or told to end. */
export function endings(lab: () => TestLab): void {
  test('SIGTERM: the run under way is finished and answered, nothing new is begun, nobody who follows keeps the service, and the next start finds all in order', async () => {
    const { planId: awaited } = await planned(lab(), { subdomain: 'awaited' })
    const streams = [`/api/deploy/plans/${awaited}/events`, '/api/events'].map((path) => follow(lab(), path))
    await until('the streams are open', () => streams.every((stream) => stream.contentType() !== undefined))
    const held = Promise.withResolvers<void>()
    await using backend = await startWebBackend(lab(), async (_request, response) => {
      await held.promise
      response.end('through the edge\n')
    })
    const { planId } = await planned(lab(), { subdomain: 'interrupted', port: backend.port })
    const [capability, spare] = [await granted(lab(), planId), await granted(lab(), planId, 'remove')]
    const applying = runWith(lab(), capability, planId)
    const stream = follow(lab(), `/api/deploy/plans/${planId}/events`)
    await stream.seen('started', 'verify')
    const ending = lab().killService('SIGTERM')
    await until('the service shuts down', async () => (await lab().call({ path: '/readyz' })).status === 503)
    const late = await runWith(lab(), spare, planId, 'remove')
    expect([late.status, late.body.code]).toEqual([503, 'unavailable'])
    held.resolve()
    const answer = await applying
    expect([answer.status, answer.body.state]).toEqual([200, 'applied'])
    await ending
    await until('the streams have ended', () => streams.every((stream) => stream.hasEnded()))
    expect((await planOf(lab(), planId)).state).toBe('applied')
    await invariants(lab())
    await removed(lab(), planId)
  })

  test('whoever comes back with the last id after a kill misses nothing; a run that a kill ended is told as recovered', async () => {
    const { planId, host } = await applied(lab(), { subdomain: 'resumed' })
    const typesOf = ({ events }: ReturnType<typeof follow>) =>
      events.filter(({ event, data }) => event !== 'host.badge' && data.data.host === host).map(({ event }) => event)
    const all = follow(lab(), '/api/events?after=0')
    await until('the apply is told', () => typesOf(all).includes('exposure.applied'))
    all.close()
    const last = all.events.at(-1)?.id
    await removed(lab(), planId)
    lab().setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: 'apply proxy after-effect' })
    await lab().killService()
    const rest = follow(lab(), '/api/events', last)
    await until('the removal is told', () => typesOf(rest).includes('exposure.removed'))
    rest.close()
    const ids = [...all.events, ...rest.events].map(({ id }) => Number(id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(ids.length)
    const chosen = follow(lab(), `/api/events?after=0&type=exposure.removed&host=${host}`)
    await until('the removal is told', () => chosen.events.length > 0)
    expect(chosen.events.map(({ event }) => event)).toEqual(['exposure.removed'])
    chosen.close()

    const { planId: left } = await planned(lab(), { subdomain: 'left' })
    const capability = await granted(lab(), left)
    const death = lab().serviceRestarted()
    await expect(runWith(lab(), capability, left)).rejects.toThrow()
    await death
    await until('recovery has ended it', async () => (await planOf(lab(), left)).state === 'rolled_back')
    const audit = await withStore(lab(), (store) => store.readAudit(0, 10_000))
    expect(audit.findLast((line) => line.planId === left)).toMatchObject({
      ...{ action: 'apply', outcome: 'rolled_back', network: 'internal' },
      facts: { right: 'capability', recovered: true },
    })
  })

  test.runIf(process.env.CAMPAIGN)(
    'events of a client and of the command that follows them go on where they were after the service has died',
    async () => {
      const inside = createClient(lab().description.inside)
      const host = 'lasting.lab.test'
      const following = spawn(launcher(), ['events', '--follow', '--host', host, '--url', lab().description.inside])
      let [told, complaint] = ['', '']
      following.stdout.setEncoding('utf8').on('data', (part: string) => {
        told += part
      })
      following.stderr.setEncoding('utf8').on('data', (part: string) => {
        complaint += part
      })
      const ended = once(following, 'close')
      const end = new AbortController()
      const seen: string[] = []
      const wanted = { after: '0', host, type: 'exposure.applied,exposure.removed' }
      const listening = (async () => {
        for await (const { type, data } of inside.events(wanted, { signal: end.signal })) {
          seen.push(`${type} ${data.host}`)
          if (type === 'exposure.removed') end.abort()
        }
      })()
      const request = planRequest(lab(), { subdomain: 'lasting' }) as Parameters<DrawbridgeClient['plan']>[0]
      const { planId } = await inside.plan(request)
      await inside.applyPlan(planId)
      await until('the command shows the apply', () => told.includes(`exposure.applied ${host}`))
      await lab().killService()
      await inside.removePlan(planId)
      await listening
      expect(seen).toEqual([`exposure.applied ${host}`, `exposure.removed ${host}`])
      await until('the command shows the removal', () => told.includes(`exposure.removed ${host}`))
      following.kill('SIGINT')
      await ended
      expect(complaint).toBe('')
      const kinds = told.split('\n').flatMap((line) => /exposure\.\w+/.exec(line) ?? [])
      expect(kinds).toEqual(['exposure.applied', 'exposure.removed'])
    },
  )
}
