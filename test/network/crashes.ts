import { describe, expect, test } from 'vitest'
import { AGENT_CRASH_POINTS, CRASH_POINTS } from '../../src/runs/engine/crash-points.ts'
import { planned, run } from '../support/lab/exposure.ts'
import type { TestNetwork } from '../support/network/network.ts'
import { endOfApply } from './ended.ts'

type Victim = 'service' | 'agent' | 'service and agent' | 'database'

/** All points of an apply with HTTPS by dns-01 on its way forward. */
const STEPS = CRASH_POINTS.filter((point) => point.startsWith('apply ') && !/undo|undone|proxy-tls/.test(point))
const EVERY: readonly (readonly [Victim, string])[] = (
  ['service', 'agent', 'service and agent', 'database'] as const
).flatMap((victim) => STEPS.map((point) => [victim, point] as const))

/** Every victim once. */
const FEW: readonly (readonly [Victim, string])[] = [
  ['service and agent', 'apply proxy after-effect'],
  ['database', 'apply proxy swapped'],
]

const CASES = process.env.CAMPAIGN ? EVERY : FEW
const AGENT_POINTS = process.env.CAMPAIGN ? AGENT_CRASH_POINTS : ['agent change swapped']

export function crashes(network: () => TestNetwork): void {
  const inside = () => network().as('10', '23')

  /** Kills what shall die while the service stands still, and lets everything go on. */
  async function kill(victim: Victim): Promise<void> {
    const service = victim.includes('service')
    const killed = [
      ...(service ? [['service', network().killPart('23', 'service')] as const] : []),
      ...(victim.includes('agent') ? [['edge', network().killPart('23', 'edge')] as const] : []),
    ]
    if (victim === 'database') {
      network().signalPart('23', 'postgres', 'SIGQUIT')
      await network().isGone('23', 'postgres')
    }
    if (!service) network().signalPart('23', 'service', 'SIGCONT')
    for (const [part, pid] of killed) await network().replaced('23', part, pid)
    if (victim === 'database') await network().startPart('23', 'postgres')
  }

  describe('killed in the middle of an apply: it is finished or put back, never half', () => {
    test.each(CASES)('%s, at "%s"', { timeout: 180_000 }, async (victim, point) => {
      await network().restartPart('23', 'service', { DRAWBRIDGE_STOP_AT: point })
      const number = CASES.findIndex(([who, where]) => who === victim && where === point)
      const plan = await planned(inside(), { subdomain: `killed-${number}`, tls: true })
      const answer = run(inside(), plan.planId).catch(() => undefined)
      await network().hasStopped('23', 'service')
      await kill(victim)
      const state = await endOfApply(network(), network().as('10', '25'), plan)
      const answered = await answer
      if (answered?.status === 200) expect(state).toBe('applied')
      await network().isReady('23')
      await network().judge({ withoutSecondary: true })
    })

    test.each(AGENT_POINTS)('the agent, at its own point "%s"', { timeout: 180_000 }, async (point) => {
      await network().isReady('23')
      const plan = await planned(inside(), { subdomain: `died-${AGENT_POINTS.indexOf(point)}`, tls: true })
      await network().restartPart('23', 'edge', { DRAWBRIDGE_CRASH_AT: point })
      const dying = network().pidOf('23', 'edge') ?? 0
      const answer = await run(inside(), plan.planId)
      await network().replaced('23', 'edge', dying)
      const state = await endOfApply(network(), inside(), plan)
      expect(answer.status === 200).toBe(state === 'applied')
      await network().judge({ withoutSecondary: true })
    })

    test('after all of it the edges are in step, and every invariant holds', { timeout: 120_000 }, async () => {
      await network().inStep('23')
      await network().inStep('25')
      await network().judge()
    })
  })
}
