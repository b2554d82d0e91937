import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EdgeDescription } from '../../lab/description.ts'
import { masterPid } from '../../src/nginx/process/nginx-workers.ts'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { takes } from '../support/delay.ts'
import { visit } from '../support/edge/visitor.ts'
import { entryFile } from '../support/lab/entry-file.ts'
import { applied, planned, planOf, planRequest, removed, run, world } from '../support/lab/exposure.ts'
import { untilChecked } from '../support/lab/housekeeping.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { until } from '../support/until.ts'

/** Server blocks that Drawbridge did not write serve the name to expose, or a name that matches it. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(() => lab?.stop())

const placed = new Set<string>()
afterEach(() => {
  for (const path of placed) rmSync(path, { force: true })
  placed.clear()
})

const primary = () => lab.description.edges.primary
/** nginx reads the files of this folder in alphabetical order; Drawbridge's file is drawbridge.conf. */
const FILES = { before: 'aa-somebody-else.conf', after: 'zz-somebody-else.conf' }

/** Writes a foreign server block. nginx loads it at its next reload. */
function place(edge: EdgeDescription, where: keyof typeof FILES, text: string): string {
  const path = join(edge.folder, FILES[where])
  writeFileSync(path, text)
  placed.add(path)
  return path
}

const block = (edge: EdgeDescription, name: string) =>
  `server { listen ${edge.address}:${edge.http}; server_name ${name}; return 200 "foreign\\n"; }\n`

const reload = ({ pidFile }: EdgeDescription) => process.kill(masterPid(pidFile) ?? 0, 'SIGHUP')

const plan = (overrides: Record<string, unknown>, from = 'internal') =>
  lab.call({ path: '/api/deploy/plan', body: planRequest(lab, overrides), from })

const PLACES = process.env.CAMPAIGN ? (['before', 'after'] as const) : (['before'] as const)

describe.each(PLACES)('a foreign block with the very name, read %s ours', (where) => {
  test('is refused at plan; only internal callers see the file', async () => {
    const path = place(primary(), where, block(primary(), 'www.other.test HELLO.lab.test'))
    const inside = await plan({})
    expect([inside.status, inside.body.code]).toEqual([409, 'proxy_name_taken'])
    expect(inside.body.checks.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual([
      'health passed',
      'dns passed',
      'certificate not_required',
      'proxy failed',
    ])
    expect(inside.body.detail).toContain(path)
    expect(inside.body.checks[3]).toMatchObject({ file: path, line: 1 })
    const outside = await plan({}, 'public')
    expect([outside.status, outside.body.code]).toEqual([409, 'proxy_name_taken'])
    expect(outside.text).not.toContain(dirname(path))
    expect(outside.text).not.toContain(FILES[where])
  })

  test('is refused at apply when it was added after the plan; nothing is changed', async () => {
    const { planId } = await planned(lab)
    const path = place(primary(), where, block(primary(), 'hello.lab.test'))
    const before = await world(lab)
    const answer = await run(lab, planId)
    expectFailure(answer, 409, 'proxy_name_taken', 'check')
    expect(answer.body.steps[0].detail).toContain('proxy')
    await expectPutBack(lab, planId, before)
    rmSync(path)
    await expectApplicable(lab, planId)
  })
})

test('a name that a foreign block serves only over TLS is refused', async () => {
  place(
    primary(),
    'after',
    `server { listen ${primary().address}:${primary().https} ssl; server_name .hello.lab.test; return 204; }\n`,
  )
  expect((await plan({})).body.code).toBe('proxy_name_taken')
  expect((await plan({ subdomain: 'other' })).status).toBe(201)
})

test('wildcards, patterns and other listen addresses do not prevent an apply', async () => {
  const { address, http } = primary()
  place(
    primary(),
    'before',
    `server { listen ${address}:${http}; server_name *.lab.test hello.* ~^hello; return 200 "foreign\\n"; }
server { listen ${address}:8099; server_name hello.lab.test; return 200 "foreign\\n"; }\n`,
  )
  const { planId, verification } = await applied(lab)
  expect(verification.primary.ok).toBe(true)
  expect((await visit(primary(), { host: 'hello.lab.test' })).text).not.toBe('foreign\n')
  expect((await visit(primary(), { host: 'any.lab.test' })).text).toBe('foreign\n')
  await removed(lab, planId)
})

describe('the answer of a foreign block does not count', () => {
  test('on the Primary: a block that was added after the check fails the verification, and all is undone', async () => {
    const before = await world(lab)
    let isApplying = false
    // The checks run in parallel. The delay lets the other checks end first.
    await using backend = await startWebBackend(
      lab,
      (_request, response) => response.end(),
      undefined,
      0,
      async () => {
        if (!isApplying) return
        await takes(500)
        place(primary(), 'before', block(primary(), 'late.lab.test'))
      },
    )
    const { planId } = await planned(lab, { subdomain: 'late', port: backend.port })
    isApplying = true
    const answer = await run(lab, planId)
    isApplying = false
    expectFailure(answer, 502, 'apply_failed', 'verify')
    for (const path of placed) rmSync(path)
    reload(primary())
    await until('nobody serves it', async () => (await visit(primary(), { host: 'late.lab.test' })).status === 404)
    await expectPutBack(lab, planId, before)
    await expectApplicable(lab, planId)
  })

  test('on the Secondary: it is reported', async () => {
    const { secondary } = lab.description.edges
    place(secondary, 'before', block(secondary, 'second.lab.test'))
    const { planId, verification } = await applied(lab, { subdomain: 'second' })
    expect(verification).toMatchObject({ primary: { ok: true }, secondary: { ok: false, httpStatus: 200 } })
    await removed(lab, planId)
  })

  test('for the badge: DRIFT in the list and in the diagnosis, RUNNING after the block is removed', async () => {
    const { host, planId } = await applied(lab, { subdomain: 'badge' })
    const badge = async (path: string) => (await lab.call({ path: `${path}?host=${host}` })).body.badge
    const turns = (wanted: string) =>
      untilChecked(lab, `the badge is ${wanted}`, async () => (await badge('/api/health')) === wanted)
    await turns('RUNNING')
    const path = place(primary(), 'before', block(primary(), host))
    reload(primary())
    await turns('DRIFT')
    // A worker of before the reload may answer for a moment.
    await expect
      .poll(async () => (await lab.call({ path: `/api/diagnose?host=${host}` })).body)
      .toMatchObject({ badge: 'DRIFT', cause: { code: 'other_server_answers' } })
    rmSync(path)
    reload(primary())
    await turns('RUNNING')
    await removed(lab, planId)
  })
})

test('the proof value of an entry reaches no caller, visitor or backend', async () => {
  const seen: string[] = []
  await using backend = await startWebBackend(lab, (request, response) => {
    seen.push(JSON.stringify(request.headers))
    response.end()
  })
  const { planId, host } = await applied(lab, { subdomain: 'quiet', port: backend.port })
  const text = readFileSync(entryFile(primary(), host).replace('/backends/', '/answers/'), 'utf8')
  const secrets = [...text.matchAll(/\b[0-9a-f]{32}\b/g)].map(([secret]) => secret)
  expect(new Set(secrets).size).toBe(2)
  const told = [JSON.stringify(await planOf(lab, planId)), ...seen].join('\n')
  expect(seen.length).toBeGreaterThan(0)
  for (const secret of secrets) expect(told).not.toContain(secret)
  await removed(lab, planId)
})

test('a broken configuration is refused at plan; only internal callers see the file and line', async () => {
  expect((await plan({ subdomain: 'broken' })).status).toBe(201)
  const path = place(primary(), 'after', 'server { this is no directive of nginx;\n')
  const before = await world(lab)
  const inside = await plan({ subdomain: 'broken' })
  expect([inside.status, inside.body.code]).toEqual([409, 'proxy_config_broken'])
  expect(inside.body.checks[3]).toMatchObject({
    name: 'proxy',
    status: 'failed',
    detail: expect.stringContaining(path),
  })
  expect(inside.text).not.toContain('this is no directive')
  const outside = await plan({}, 'public')
  expect(outside.body.code).toBe('proxy_config_broken')
  expect(outside.text).not.toContain(FILES.after)
  expect(await world(lab)).toEqual(before)
  rmSync(path)
  expect((await plan({ subdomain: 'broken' })).status).toBe(201)
})
