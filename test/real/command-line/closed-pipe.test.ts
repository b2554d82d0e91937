import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { freshFolder } from '../../support/fresh.ts'
import { listening } from '../../support/listening.ts'

/** Nobody reads what a command prints any more, as in `drawbridge apply -f FILE --yes | head -1`. */
const folder = freshFolder()
const NAMES = ['one', 'two', 'three', 'four']

/** A service without hosts. `closed`: apply is answered only then. `refused`: the host whose apply fails. */
async function startService(closed: Promise<unknown>, refused?: string) {
  const applied: string[] = []
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? ((await json(request)) as { subdomain?: string; planId?: string }) : {}
    const path = new URL(request.url ?? '', 'http://service.test').pathname
    if (path === '/api/deploy/apply') {
      await closed
      applied.push(body.planId ?? '')
    }
    const isRefused = path === '/api/deploy/apply' && body.planId === `plan_${refused}`
    const problem = { code: 'plan_busy', detail: 'Busy.', nextAction: 'Wait.', retryable: true, status: 409 }
    response.writeHead(isRefused ? 409 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isRefused ? { ...problem, title: 'Busy', requestId: 'req_1' } : answer(path, body)))
  })
  const { port, [Symbol.asyncDispose]: close } = await listening(server)
  onTestFinished(close)
  return { url: `http://127.0.0.1:${port}`, applied }
}

function answer(path: string, { subdomain }: { readonly subdomain?: string }): object {
  if (path === '/api/policy')
    return {
      zones: ['lab.test'],
      caller: { network: 'internal', may: ['apply'] },
      apply: { possible: true, reasons: [] },
    }
  if (path === '/api/hosts') return { hosts: [], counts: {}, total: 0, matched: 0, nextCursor: null, at: '' }
  if (path === '/api/deploy/plan') return { planId: `plan_${subdomain}` }
  if (path === '/api/internal/token') return { capability: 'canned', header: 'x-deploy-capability' }
  return path.startsWith('/api/deploy/plans/') ? { request: {}, runs: [] } : {}
}

/** Reads the first of what the command prints on each output, then closes both. `reads`: false closes them at once. */
async function unread(args: readonly string[], close: () => void = () => undefined, reads = true): Promise<number> {
  const child = spawn(launcher(), args)
  if (reads) await once(child.stdout, 'data')
  for (const output of [child.stdout, child.stderr]) output.destroy()
  close()
  const [code] = (await once(child, 'close')) as [number]
  return code
}

function written(): string {
  const file = folder('exposures.yaml')
  writeFileSync(
    file,
    `exposures:\n${NAMES.map((name) => `  - { host: ${name}.lab.test, server: 25, port: 3000 }\n`).join('')}`,
  )
  return file
}

test('a change goes on to its end', async () => {
  const closed = Promise.withResolvers<void>()
  const service = await startService(closed.promise)
  expect(await unread(['apply', '-f', written(), '--yes', '--url', service.url], closed.resolve)).toBe(0)
  expect(service.applied).toEqual(NAMES.map((name) => `plan_${name}`))
})

test('a change that fails keeps its exit code', async () => {
  const closed = Promise.withResolvers<void>()
  const service = await startService(closed.promise, 'three')
  expect(await unread(['apply', '-f', written(), '--yes', '--url', service.url], closed.resolve)).toBe(4)
  expect(service.applied).toEqual(['plan_one', 'plan_two', 'plan_three'])
})

test('a command that only looks ends with the exit code that it has', async () => {
  const service = await startService(Promise.resolve())
  expect(await unread(['diff', '-f', written(), '--url', service.url], undefined, false)).toBe(9)
  expect(await unread(['export', '--url', service.url], undefined, false)).toBe(0)
})
