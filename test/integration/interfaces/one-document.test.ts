import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { listening } from '../../support/listening.ts'
import { command } from '../../support/programs/command.ts'

const PLAN = 'plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'
const HOST = 'hello.lab.test'

const problem = { code: 'host_not_found', title: 'It is not served', detail: 'It is not.', nextAction: 'Plan it.' }
const refused = { ...problem, status: 404, retryable: false, requestId: 'req_1' }
const at = '2026-01-31T12:00:00.000Z'
const ended = `id: run_1.9\nevent: end\ndata: ${JSON.stringify({ action: 'apply', step: 'run', at, state: 'rolled_back' })}\n\n`
const step = `id: run_1.1\nevent: done\ndata: ${JSON.stringify({ action: 'apply', step: 'check', at })}\n\n`

/** A service with one plan. It knows no host. `run`: how the newest run of the plan ended; undefined as outside, where nobody sees runs. */
async function serviceWith(run?: string, state = 'rolled_back'): Promise<string> {
  const runs = run === undefined ? undefined : [{ action: 'apply', state: run, startedAt: at, events: [], steps: [] }]
  const request = { server: '25', port: 3000, health: '/', tls: true }
  const plan = { planId: PLAN, state, host: HOST, url: '', checks: [], changes: [], request, expiresAt: at, runs }
  const server = createServer(({ url }, response) => {
    const isStream = url?.endsWith('/events')
    const body = url === `/api/deploy/plans/${PLAN}` ? plan : url === '/api/policy' ? { zones: ['lab.test'] } : refused
    response.writeHead(body === refused && !isStream ? 404 : 200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
    })
    response.end(isStream ? step + ended : JSON.stringify(body))
  })
  const { port, [Symbol.asyncDispose]: close } = await listening(server)
  onTestFinished(close)
  return `http://127.0.0.1:${port}`
}

test('a refusal is one document in the form that was asked for, however it was asked for', async () => {
  const url = await serviceWith()
  for (const form of [
    ['--json'],
    ['-o', 'json'],
    ['-ojson'],
    ['--output', 'json'],
    ['--output=yaml'],
    ['-o', 'yaml'],
  ]) {
    const { code, stdout, stderr } = await command(['status', 'nosuch', ...form, '--url', url])
    expect({ form, code, stderr }).toEqual({ form, code: 3, stderr: '' })
    const told = form.join().includes('yaml') ? parse(stdout) : JSON.parse(stdout)
    expect(told).toMatchObject({
      code: 'host_not_found',
      nextAction: expect.stringContaining('drawbridge plan nosuch'),
    })
    expect(stdout.startsWith('{')).toBe(!form.join().includes('yaml'))
  }
})

test('the text of a value is no option', async () => {
  const plan = ['plan', HOST, '--server', '25', '--port', '3000', '--note', 'see -o json']
  const { stdout, stderr } = await command([...plan, '--url', await serviceWith()])
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: expect.stringContaining('host_not_found') })
})

test('a run that is followed in a form is one document, and the command ends as the run did', async () => {
  const following = async (url: string, ...form: string[]) =>
    command(['plans', 'show', PLAN, '--follow', '--url', url, ...form])
  const { code, stdout } = await following(await serviceWith('rolled_back'), '--json')
  expect({ code, plan: JSON.parse(stdout) }).toMatchObject({ code: 5, plan: { planId: PLAN } })
  expect(await following(await serviceWith('rolled_back'), '-o', 'name')).toMatchObject({
    code: 5,
    stdout: `${PLAN}\n`,
  })
  const shown = await following(await serviceWith('blocked', 'blocked'))
  expect(shown).toMatchObject({ code: 6, stdout: expect.stringMatching(/\n.*\(plan_/) })
  expect((await following(await serviceWith('succeeded', 'applied'))).code).toBe(0)
  // The host is still exposed after a remove that was put back.
  expect((await following(await serviceWith('rolled_back', 'applied'))).code).toBe(5)
  expect((await following(await serviceWith())).code).toBe(5)
  expect((await command(['plans', 'show', PLAN, '--url', await serviceWith('rolled_back')])).code).toBe(0)
})
