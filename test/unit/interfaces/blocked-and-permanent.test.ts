import { expect, test, vi } from 'vitest'
import { endWith } from '../../../src/cli/ending.ts'
import { applyLive } from '../../../src/cli/live-run.ts'
import { nextCommand } from '../../../src/cli/next-action.ts'
import { diagnosisLines } from '../../../src/cli/views/diagnosis.ts'
import { driftLines, readDrifts, readStray, strayLines } from '../../../src/cli/views/drift.ts'
import { healthLines, isWell, statusLines } from '../../../src/cli/views/status.ts'
import { type ProblemBody, Refusal } from '../../../src/client/refusal.ts'
import { failure } from '../../../src/mcp/failure.ts'
import { ERRORS } from '../../../src/model/errors.ts'

const screen = { columns: 80, isTerminal: false, isWide: false, paint: (_: string, text: string) => text } as never
const problem = (code: string, more: object = {}): ProblemBody =>
  ({ code, detail: 'It is refused.', status: 409, title: '', nextAction: '', retryable: false, ...more }) as never

test('diff of every host names a blocked one and goes on with the others', async () => {
  const rows = [{ host: 'a.test', blocked: true }, { host: 'b.test' }].map((one) => ({
    ...one,
    planId: `plan_${one.host}`,
  }))
  const api = {
    policy: async () => ({ caller: { network: 'internal' } }),
    allHosts: async () => ({ hosts: rows }),
    drift: async (planId: string) => {
      if (planId === 'plan_a.test') throw new Refusal(problem('plan_not_applied'))
      return { planId, differences: [] }
    },
  } as never
  const lines = driftLines(await readDrifts(api, undefined, true), screen, 0)
  expect(lines).toEqual([expect.stringMatching(/^a\.test: blocked, not compared\./), 'b.test: no difference.'])
})

test('diff of every host tells the lines of no host once, of the edge, with file and count', async () => {
  const stray = [{ file: 'current/backends/12.map', lines: 2 }]
  const edges = ['23', '73'].map((server) => ({ server, stray: server === '23' ? stray : [] }))
  const told = strayLines(await readStray({ hosts: async () => ({ edges }) } as never)).join('\n')
  expect(told).toMatch(/^Edge 23, lines of no host:\n {2}current\/backends\/12\.map: 2\n.*drawbridge doctor/)
  expect(told).not.toContain('73')
  expect(await readStray({ hosts: async () => ({}) } as never)).toEqual([])
})

test('hosts that an edge serves and the store does not know are told, with the way to manage or remove them', async () => {
  const edges = ['23', '73'].map((server) => ({ server, unknown: server === '73' ? 2 : 0, stray: [] }))
  const lists = { hosts: [row], total: 1, matched: 1, counts: { RUNNING: 1 }, edges, checkedAt: null } as never
  const diff = strayLines(await readStray({ hosts: async () => lists } as never))
  expect(diff[0]).toBe('Edge 73 serves 2 hosts that the store does not know. Nothing changes them.')
  expect(diff.join('\n')).toMatch(/edge converge.*\n.*rebuild --from-world.*\n.*drawbridge down HOST/)
  expect(statusLines(lists, screen)).toEqual(expect.arrayContaining(diff))
})

const row = {
  ...{ host: 'a.test', badge: 'RUNNING', blocked: true, since: null, server: '25', latencyMs: 1, uptime24h: 1 },
  ...{ certificate: null, expiresAt: null, managed: true, planId: 'plan_a', lastCheck: null, configPath: null },
}

test('status and health name a blocked host', () => {
  const body = { hosts: [row], total: 1, matched: 1, counts: { RUNNING: 1 }, edges: [], checkedAt: null } as never
  expect(statusLines(body, screen).join('\n')).toContain('RUNNING (blocked)')
  expect(healthLines(row as never, screen, 0).join('\n')).toContain('its last run could not be undone')
})

test('a blocked host is neither green nor well, whatever it answers', () => {
  const painted = { columns: 80, paint: (tone: string, text: string) => `<${tone}>${text}` } as never
  const cause = { code: 'blocked', level: 'bad', sentence: 'It is.', advice: 'Resolve it.' }
  const place = { configLine: null, proxyPass: null, chain: [], tookMs: 1 }
  expect(diagnosisLines({ ...row, ...place, cause }, painted)[0]).toContain('<bad>RUNNING')
  const well = { ...cause, code: 'healthy', level: 'good' }
  expect(diagnosisLines({ ...row, ...place, cause: well }, painted)[0]).toContain('<good>RUNNING')
  expect(healthLines(row, painted, 0)[0]).toContain('<bad>RUNNING')
  expect(healthLines({ ...row, blocked: undefined }, painted, 0)[0]).toContain('<good>RUNNING')
  const unblocked = { ...row, blocked: undefined }
  expect([row, unblocked, { ...unblocked, badge: 'DOWN' }].map(isWell)).toEqual([false, true, false])
})

test('nobody outside is sent to a member of the policy that only callers inside see', () => {
  const blocked = new Refusal(problem('rollback_blocked'))
  for (const text of [ERRORS.rollback_blocked.nextAction, JSON.stringify(failure(blocked))])
    expect(text).toContain('tells FILE as configFile to internal callers.')
})

test('nobody is sent to extend an exposure that has no end', () => {
  const permanent = problem('lease_not_longer', { expiresAt: null })
  expect(nextCommand(permanent)).toContain('leave --expires-in out')
  expect(JSON.stringify(failure(new Refusal(permanent)))).toContain('Do not call extend_exposure')
  expect(nextCommand(problem('lease_not_longer', { expiresAt: '2030-01-01T00:00:00Z' }))).toContain('longer duration')
})

test('an apply that failed names its own plan in the command that repeats it', async () => {
  const client = { clock: {}, applyPlan: () => Promise.reject(new Refusal(problem('apply_failed'))) } as never
  const failed = await applyLive(client, 'plan_a', true).catch((error: unknown) => error)
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  await endWith(failed, 'json')
  const told = written.mock.calls.join('')
  written.mockRestore()
  expect(told).toContain('then run drawbridge apply plan_a again.')
})
