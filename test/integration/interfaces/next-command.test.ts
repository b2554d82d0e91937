import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { ERRORS, type ErrorCode } from '../../../src/model/errors.ts'
import { listening } from '../../support/listening.ts'
import { command } from '../../support/programs/command.ts'

const PLAN = 'plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'

/** A service that knows one plan, and refuses every change with this code. */
async function refusing(code: ErrorCode, plan: object | undefined): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const known: Readonly<Record<string, object | undefined>> = {
      [`/api/deploy/plans/${PLAN}`]: plan,
      '/api/internal/token': { capability: 'canned', header: 'x-deploy-capability' },
    }
    const body = known[path]
    const { status, ...entry } = ERRORS[code]
    response.writeHead(body ? 200 : status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { ...entry, code, status, detail: 'It is refused.', requestId: 'req_1' }))
  })
  const { port, [Symbol.asyncDispose]: close } = await listening(server)
  onTestFinished(close)
  return `http://127.0.0.1:${port}`
}

const plan = { planId: PLAN, host: 'hello.lab.test', request: {}, runs: [] }

test('what to do next names the host of a plan, and never the plan in its place', async () => {
  const extending = ['extend', PLAN, '--for', '1h', '--url', await refusing('lease_not_longer', plan)]
  expect((await command(extending)).stderr).toContain('drawbridge health hello.lab.test shows')
  const applying = ['apply', PLAN, '--yes', '--url', await refusing('plan_stale', plan)]
  expect((await command(applying)).stderr).toContain('drawbridge up hello.lab.test.')
})

test('the host of a plan that nobody knows is left for the person to write', async () => {
  const unknown = `${PLAN.slice(0, -1)}1`
  const { stderr } = await command(['apply', unknown, '--yes', '--url', await refusing('plan_not_found', undefined)])
  expect(stderr).toContain('drawbridge plan HOST')
})
