import { describe, expect, test } from 'vitest'
import { expected, granted, planned, planOf, planRequest, removed, run, runWith } from '../support/lab/exposure.ts'
import type { TestNetwork } from '../support/network/network.ts'

/** Headers by which a caller could claim to be inside. */
const CLAIMS: Readonly<Record<string, string | string[]>>[] = [
  {},
  { 'x-forwarded-for': '192.168.45.10' },
  { 'x-forwarded-for': ['192.168.45.10', '192.168.45.10'] },
  { 'x-forwarded-for': '192.168.45.10, 198.51.100.9' },
  { 'x-real-ip': '192.168.45.10' },
  { 'x-real-ip': ['192.168.45.10', '192.168.45.10'] },
  { forwarded: 'for=192.168.45.10' },
  { forwarded: ['for=192.168.45.10', 'for="192.168.45.10";by=192.168.45.23'] },
  { 'x-forwarded-for': '192.168.45.10', 'x-real-ip': '192.168.45.10', forwarded: 'for=192.168.45.10' },
  { 'x-client-ip': '192.168.45.10', 'true-client-ip': '192.168.45.10', 'cf-connecting-ip': '192.168.45.10' },
]

/** The other instance is asked in every test of a capability, too. */
const INSTANCES = process.env.CAMPAIGN ? (['23', '25'] as const) : (['23'] as const)

export function callers(network: () => TestNetwork): void {
  describe.each(INSTANCES)('callers at the addresses of the specification, of the instance on %s', (at) => {
    test('the public may plan, and nothing else, whatever header it sends', async () => {
      const [outside, inside] = [network().as('public', at), network().as('10', at)]
      const { planId } = await planned(outside, { subdomain: 'outside', tls: true })
      const capability = await granted(inside, planId)
      for (const headers of CLAIMS) {
        const body = { planId }
        const answers = await Promise.all([
          outside.call({ path: '/api/internal/token', body, headers }),
          outside.call({ path: '/api/deploy/apply', body, headers: { ...headers, 'x-deploy-capability': capability } }),
          outside.call({
            path: '/api/deploy/remove',
            body,
            headers: { ...headers, 'x-deploy-capability': capability },
          }),
        ])
        const codes = answers.map(({ status, body }) => [status, body.code])
        expect({ headers, codes }).toEqual({ headers, codes: answers.map(() => [403, 'internal_network_required']) })
      }
      expect((await planOf(inside, planId)).state).toBe('planned')
      const { caller } = expected(await outside.call({ path: '/api/policy' }), 200)
      expect(caller.network).toBe('public')
      expect(caller.may).not.toContain('apply')
    })

    test('192.168.45.10 plans, gets a token, applies, reads and removes, with HTTPS by dns-01', async () => {
      const inside = network().as('10', at)
      const host = `inside-${at}.example.test`
      const { planId, url } = await planned(inside, { subdomain: `inside-${at}`, tls: true })
      expect(url).toBe(`https://${host}/`)
      const { steps, verification } = expected(await run(inside, planId), 200)
      expect(steps.map(({ name }: { name: string }) => name)).toEqual([
        'check',
        'backup',
        'certificate',
        'proxy',
        'dns',
        'verify',
      ])
      expect(verification.primary).toMatchObject({ server: '23', ok: true })
      expect(verification.secondary).toMatchObject({ server: '73', ok: true, inStep: true })
      expect(await network().visit('public', '23', host)).toBe(200)
      expect(await network().visit('public', '73', host)).toBe(200)
      expect(await network().addresses('public', '23', host)).toEqual(['192.168.45.23'])
      await expect.poll(() => network().addresses('public', '73', host)).toEqual(['192.168.45.23'])
      const health = expected(
        await network()
          .as('public', at)
          .call({ path: `/api/health?host=${host}` }),
        200,
      )
      expect(health).toMatchObject({ server: '25', managed: true })
      await removed(inside, planId)
      expect(await network().addresses('public', '23', host)).toEqual([])
      for (const edge of ['23', '73'] as const) expect(await network().visit('public', edge, host)).not.toBe(200)
    })

    test('a capability that was issued to 192.168.45.10 is refused from 192.168.45.25, and is not spent', async () => {
      const other = at === '23' ? '25' : '23'
      const ten = network().as('10', at)
      const { planId } = await planned(ten, { subdomain: 'bound' })
      const capability = await granted(ten, planId)
      for (const instance of [at, other] as const) {
        const { status, body } = await runWith(network().as('25', instance), capability, planId)
        expect([status, body.code]).toEqual([403, 'capability_invalid'])
      }
      // The other instance knows it too.
      expect((await runWith(network().as('10', other), capability, planId)).status).toBe(200)
      await removed(ten, planId)
    })

    test('a backend that is not healthy is refused', async () => {
      const inside = network().as('10', at)
      const body = planRequest(inside, { server: '253', subdomain: 'sick' })
      const answer = await inside.call({ path: '/api/deploy/plan', body })
      expect([answer.status, answer.body.code]).toEqual([422, 'backend_unhealthy'])
    })
  })
}
