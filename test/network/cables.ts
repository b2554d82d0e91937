import { describe, expect, test } from 'vitest'
import { expected, planned, removed, run } from '../support/lab/exposure.ts'
import type { TestNetwork } from '../support/network/network.ts'

export function cables(network: () => TestNetwork): void {
  describe('the cable of 73', () => {
    test('is cut during applies with HTTPS by dns-01: they succeed, and the name server on 73 is in step within 30 s after it', async () => {
      const inside = network().as('10')
      const hosts = ['cut-a', 'cut-b']
      const plans = await network().withoutCable('73', async () => {
        const made = await Promise.all(hosts.map((subdomain) => planned(inside, { subdomain, tls: true })))
        for (const { planId } of made) {
          const { state, verification } = expected(await run(inside, planId), 200)
          expect(state).toBe('applied')
          expect(verification.primary).toMatchObject({ server: '23', ok: true })
        }
        return made
      })
      for (const subdomain of hosts) {
        const host = `${subdomain}.example.test`
        expect(await network().visit('public', '23', host)).toBe(200)
        await expect.poll(() => network().addresses('public', '73', host), IN_STEP).toEqual(['192.168.45.23'])
      }
      for (const { planId } of plans) await removed(inside, planId)
    }, 120_000)
  })
}

const IN_STEP = { timeout: 30_000, interval: 250 }
