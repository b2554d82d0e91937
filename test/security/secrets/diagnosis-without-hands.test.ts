import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

/** Node itself takes the right to write, to start programs and to load foreign code from a program that diagnoses. */
let edge: TestEdge
let port: number

beforeAll(async () => {
  edge = await startTestEdge()
  port = await freePort(edge.address)
  const text = readFileSync(edge.config, 'utf8')
  const own = `server { listen ${edge.address}:8080; server_name own.lab.test; return 204; }`
  writeFileSync(
    edge.config,
    text.replace(/ {2}include drawbridge.*/, (include) => `${include}\n  ${own}`),
  )
  await edge.place({ host: 'made.lab.test', planId: PLAN_ID, target: `http://${edge.address}:${port}` })
})

afterAll(() => edge?.stop())

/** A program that is told a host on each line and answers the cause. */
function startDiagnoser() {
  const { address, config, folder, prefix, pidFile, errorLog } = edge
  const settings = JSON.stringify({
    servers: { addresses: { '23': address }, targets: ['23'], primary: '23', secondary: 'none' },
    edge: edge.ports,
    edges: { '23': { config, folder, prefix, pidFile, errorLog } },
    zones: { 'lab.test': { primary: '127.0.0.1:9' } },
  })
  const request = { zone: 'lab.test', subdomain: 'made', server: '23', port, health: '/', tls: false }
  const change = {
    kind: 'proxy',
    action: 'create',
    serverName: 'made.lab.test',
    target: `http://${address}:${port}`,
    https: false,
  }
  const errand = {
    settings,
    exposure: {
      host: 'made.lab.test',
      planId: PLAN_ID,
      state: 'applied',
      fence: 1,
      since: 0,
      receipt: { version: 2, records: [] },
    },
    plan: { planId: PLAN_ID, host: 'made.lab.test', request, changes: [change] },
  }
  // The thread that parses the configuration gets its text and opens no file.
  const rights = ['--permission', '--allow-fs-read=*', '--allow-worker']
  const program = join(import.meta.dirname, '..', '..', 'support', 'programs', 'diagnose-program.ts')
  const child = spawn(process.execPath, [...rights, program, JSON.stringify(errand)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const causes = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    async cause(host: string): Promise<string | undefined> {
      child.stdin.write(`${host}\n`)
      return (await causes.next()).value
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

test('a diagnosis needs none of these rights, whatever it finds', async () => {
  await using diagnoser = startDiagnoser()
  expect(await diagnoser.cause('made.lab.test')).toBe('nothing_listening')
  expect(await diagnoser.cause('own.lab.test')).toBe('dns_unknown')
  appendFileSync(edge.config, 'unknown_directive on;\n')
  process.kill(edge.pid, 'SIGHUP')
  await expect.poll(() => readFileSync(edge.errorLog, 'utf8')).toContain('[emerg]')
  expect(await diagnoser.cause('own.lab.test')).toBe('edge_config_broken')
})

test('Node does refuse such a program the right to write', async () => {
  const writing = `require('node:fs').openSync(${JSON.stringify(edge.config)}, 'r+')`
  await expect(
    promisify(execFile)(process.execPath, ['--permission', '--allow-fs-read=*', '-e', writing]),
  ).rejects.toThrow('ERR_ACCESS_DENIED')
})
