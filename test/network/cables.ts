import { describe, expect, test } from 'vitest'
import { hasEntry } from '../support/lab/entry-file.ts'
import { expected, planned, removed, run } from '../support/lab/exposure.ts'
import type { TestNetwork } from '../support/network/network.ts'
import { until } from '../support/until.ts'

/** How soon machine 73 has everything again after its cable was mended. */
const IN_STEP_MS = 30_000

export function cables(network: () => TestNetwork): void {
  describe('the cable of 73', () => {
    test('is cut during applies with HTTPS by dns-01: they succeed, and 73 is in step within 30 s after it', async () => {
      const made: { planId: string; host: string }[] = []
      const apply = async (at: '23' | '25') => {
        const plan = await planned(network().as('10', at), { subdomain: `cut-${at}`, tls: true })
        made.push(plan)
        return { answered: run(network().as('10', at), plan.planId) }
      }
      // One is under way when the cable is cut, and one begins after it.
      const underWay = await apply('23')
      await network().withoutCable('73', async () => {
        for (const { answered } of [underWay, await apply('25')]) {
          const { state, verification } = expected(await answered, 200)
          expect(state).toBe('applied')
          expect(verification.primary).toMatchObject({ server: '23', ok: true })
          expect(verification.secondary).toMatchObject({ server: '73', ok: false })
        }
      })
      const hosts = made.map(({ host }) => host)
      const isInStep = async () => {
        const answers = await Promise.all(
          hosts.map(async (host) => [
            await network().visit('public', '73', host),
            ...((await network().addresses('public', '73', host)) ?? []),
          ]),
        )
        return answers.every(([status, address]) => status === 200 && address === '192.168.45.23')
      }
      await until('nginx and BIND on 73 have everything', isInStep, IN_STEP_MS)
      for (const host of hosts) expect(await network().visit('public', '23', host)).toBe(200)
      for (const { planId } of made) await removed(network().as('10'), planId)
      const isGone = () => hosts.every((host) => !hasEntry(network().description.edges['73'], host))
      await until('nginx on 73 serves none of them any more', isGone, IN_STEP_MS)
    }, 150_000)
  })
}
