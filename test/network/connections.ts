import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { granted, planned, planOf, removed, run, runWith } from '../support/lab/exposure.ts'
import type { TestNetwork } from '../support/network/network.ts'
import { SocketRelay } from '../support/network/socket-relay.ts'
import type { Cut } from '../support/network/socket-relay-program.ts'
import { until } from '../support/until.ts'
import { endOfApply } from './ended.ts'

const NEVER = { message: 0, side: 'message', awayMs: 0 } as const

/** What a cut leaves away: a connection that was closed, and an agent that nobody reaches for a while. */
const AWAYS_MS = process.env.CAMPAIGN ? [0, 1_500] : [0]

export function cutConnections(network: () => TestNetwork): void {
  describe('the connection between the service on 23 and its agent', () => {
    let relay: SocketRelay
    beforeAll(async () => {
      relay = await SocketRelay.start(network())
      // It has connections to the agent from before.
      await network().restartPart('23', 'service', {})
      // It would take over the runs of an instance that has lost the agent, by a connection of its own.
      await network().stopPart('25', 'service')
    }, 60_000)
    afterAll(async () => {
      await relay?.stop()
      await network().startPart('25', 'service')
      await network().isReady('25')
    }, 60_000)

    const inside = () => network().as('10', '23')

    /** Applies a plan while the connection is cut, and says how it ended. */
    async function applyWithCut(subdomain: string, cut: Cut): Promise<{ state: string; wasCut: boolean }> {
      const { planId, host } = await planned(inside(), { subdomain })
      const capability = await granted(inside(), planId)
      await relay.cutAt(cut)
      const answer = await runWith(inside(), capability, planId)
      const { wasCut } = await relay.seen()
      // Refused before it had begun: nothing was changed, and the capability is not spent.
      if (answer.status === 503 && (await planOf(inside(), planId)).state === 'planned')
        return { state: 'planned', wasCut }
      const state = await endOfApply(network(), inside(), { planId, host })
      expect([cut, answer.status === 200]).toEqual([cut, state === 'applied'])
      await relay.cutAt(NEVER)
      const isRemoved = async () => (await run(inside(), planId, 'remove')).status === 200
      if (state === 'applied') await until('it is removed when the agent is back', isRemoved)
      return { state, wasCut }
    }

    test('is cut at every message of an apply: it is finished or put back, never half', async () => {
      expect((await applyWithCut('whole', NEVER)).state).toBe('applied')
      const { verbs } = await relay.seen()
      expect(verbs).toContain('change')
      const first = (verb: string) => verbs.indexOf(verb) + 1
      const messages = process.env.CAMPAIGN ? verbs.map((_, at) => at + 1) : [1, first('change'), first('visit')]
      const ends = new Map<string, number>()
      for (const message of messages)
        for (const side of ['message', 'answer'] as const)
          for (const awayMs of AWAYS_MS) {
            const { state, wasCut } = await applyWithCut(`cut-${message}-${side}-${awayMs}`, { message, side, awayMs })
            if (wasCut) ends.set(state, (ends.get(state) ?? 0) + 1)
          }
      // Another message may come between on a busy machine, and the one that was meant is a later one then.
      const cuts = [...ends.values()].reduce((sum, count) => sum + count, 0)
      expect(cuts).toBeGreaterThan(process.env.CAMPAIGN ? messages.length : 0)
      // A draft whose end was not told goes by itself.
      const holds = () =>
        network()
          .judge({ withoutSecondary: true })
          .then(() => true)
      await until('every invariant holds', () => holds().catch(() => false), 45_000).catch(holds)
    }, 600_000)
  })

  describe('the cable of 25', () => {
    test('is cut in the middle of its apply: the instance on 23 ends the run, and 25 goes on after it', async () => {
      await network().restartPart('25', 'service', { DRAWBRIDGE_STOP_AT: 'apply dns after-effect' })
      const at25 = network().as('10', '25')
      const { planId, host } = await planned(at25, { subdomain: 'cable-25' })
      const answer = run(at25, planId).catch(() => undefined)
      await network().hasStopped('25', 'service')
      await network().withoutCable('25', async () => {
        network().signalPart('25', 'service', 'SIGCONT')
        await endOfApply(network(), network().as('10', '23'), { planId, host })
      })
      await answer
      await network().isReady('25')
      await until('25 knows the end', async () => (await planOf(at25, planId)).state !== 'applying')
      if ((await planOf(at25, planId)).state === 'applied') await removed(at25, planId)
      await network().judge({ withoutSecondary: true })
    }, 180_000)
  })
}
