import { readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { visit } from '../../support/edge/visitor.ts'
import { type Agent, errorOf, startAgentHere, structured } from '../../support/http/agent.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, expected, granted, planOf, run } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { forgetReleased } from '../../support/lab/released.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { onTerminal } from '../../support/programs/pseudo-terminal.ts'
import { until } from '../../support/until.ts'

/** Somebody changes an exposure by hand; the API, the built command and the tools for agents repair or accept it. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(async () => {
  if (lab) forgetReleased(lab, released)
  await lab?.stop()
})

const released: string[] = []

const said = (...args: string[]) => command([...args, '--url', lab.description.inside])
const entryOf = (host: string) => entryFile(lab.description.edges.primary, host)
const edit = (host: string) => editEntry(entryOf(host), host)
const isEdited = (host: string) => readFileSync(entryOf(host), 'utf8').includes('# edited')
const diagnosed = async (host: string) => expected(await lab.call({ path: `/api/diagnose?host=${host}` }), 200)
const healthOf = async (host: string) => expected(await lab.call({ path: `/api/health?host=${host}` }), 200)
const served = async (host: string) => visit(lab.description.edges.primary, { host, path: '/healthz' })

/** The host is as it was applied, and every read says so. */
async function expectWell(host: string): Promise<void> {
  expect(await diagnosed(host)).toMatchObject({ badge: 'RUNNING', cause: { code: 'healthy', acts: [] } })
  expect(await healthOf(host)).toMatchObject({ badge: 'RUNNING', managed: true })
  expect((await served(host)).status).toBe(200)
}

/** The host answers as before, and Drawbridge no longer manages it. */
async function expectReleased(host: string, planId: string): Promise<void> {
  released.push(host)
  expect((await served(host)).status).toBe(200)
  expect((await planOf(lab, planId)).state).toBe('released')
  expect((await healthOf(host)).managed).toBe(false)
  const { managed, cause, ...rest } = await diagnosed(host)
  expect([managed, cause.acts]).toEqual([false, []])
  expect(rest).not.toHaveProperty('planId')
}

describe('by the command', () => {
  test('an edited entry is shown, not overwritten without a word, and repaired with --overwrite', async () => {
    const { host } = await applied(lab, { subdomain: 'by-command' })
    expect(await said('diff', host)).toMatchObject({ code: 0 })
    edit(host)
    const diff = await said('diff', host)
    expect(diff).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`backend: edited (changed outside Drawbridge)\n    ${entryOf(host)}:`),
    })
    const advice = `Discard it with drawbridge repair ${host} --overwrite, or keep it with drawbridge accept ${host}.`
    expect((await said('diagnose', host)).stdout).toContain(advice)
    const refused = await said('repair', host)
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('(changed_elsewhere)') })
    expect(isEdited(host)).toBe(true)
    const declined = await onTerminal(`${launcher()} repair ${host} --url ${lab.description.inside}; echo "code $?"`, {
      input: 'n\n',
    })
    expect(declined).toContain('Overwrite what was changed outside Drawbridge? [y/N]')
    expect(declined).toContain('code 8')
    expect(isEdited(host)).toBe(true)
    const repaired = await said('repair', host, '--overwrite')
    expect(repaired).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Repaired: http://') })
    expect(repaired.stdout).toMatch(/✔ keep what stands .*\n.*✔ test and reload nginx/)
    expect(isEdited(host)).toBe(false)
    await expectWell(host)
  }, 90_000)

  test('what is gone is repaired without a question: an entry, a record, the owner mark', async () => {
    const { host, planId } = await applied(lab, { subdomain: 'gone' })
    rmSync(entryOf(host))
    expect((await said('diagnose', host)).stdout).toContain(`drawbridge repair ${host}.`)
    expect(await said('repair', planId)).toMatchObject({ code: 0 })
    await expectWell(host)
    updateZone(lab, `update delete ${host} A`, `update delete _drawbridge.${host} TXT`)
    expect((await said('diff', host)).stdout).toMatch(/A record of .* is missing\n +owner mark: is missing\n/)
    expect((await said('diagnose', host)).stdout).toMatch(/NO DNS[\s\S]*drawbridge repair/)
    expect(await said('repair', host)).toMatchObject({ code: 0 })
    await expectWell(host)
  }, 90_000)

  test('a record of somebody else is overwritten only on request', async () => {
    const { host } = await applied(lab, { subdomain: 'moved' })
    updateZone(lab, `update delete ${host} A`, `update add ${host} 60 CNAME elsewhere.example.`)
    expect((await diagnosed(host)).cause).toMatchObject({
      code: 'name_points_elsewhere',
      acts: ['overwrite', 'accept'],
      advice: expect.stringContaining('POST /api/deploy/repair and overwrite: true'),
    })
    expect(await said('repair', host)).toMatchObject({ code: 3 })
    expect(await said('repair', host, '--overwrite', '--json')).toMatchObject({ code: 0 })
    await expectWell(host)
  }, 90_000)

  test('an accepted host stays on the air and is no longer managed', async () => {
    const { host, planId } = await applied(lab, { subdomain: 'kept' })
    edit(host)
    const silent = await said('accept', host)
    expect(silent).toMatchObject({ code: 2, stderr: expect.stringContaining(`pass --yes to accept ${host}`) })
    expect(silent.stdout).toMatch(/stays on the air[\s\S]*nobody renews its certificate/)
    const { code, stdout } = await said('accept', host, '--yes')
    expect(code).toBe(0)
    expect(stdout).toContain(`Released: ${host} is no longer managed by Drawbridge.`)
    const [, file = ''] = /Its entry is now in (\S+)/.exec(stdout) ?? []
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`server_name ${host};[\\s\\S]*proxy_pass http://`))
    await expectReleased(host, planId)
    expect((await said('plans')).stdout).toMatch(new RegExp(`${host} +released`))
    expect(await said('repair', planId)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('plan_not_applied'),
    })
    expect(await said('repair', host)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was not exposed by Drawbridge'),
    })
  }, 90_000)
})

describe('by an agent', () => {
  let agent: Agent
  beforeAll(async () => {
    agent = await startAgentHere(lab.description.inside)
  })
  afterAll(() => agent?.close())

  test('an edited entry: compared, refused with the tools that help, overwritten on request, accepted', async () => {
    const { use } = agent
    const { host, planId } = await applied(lab, { subdomain: 'by-agent' })
    edit(host)
    const { cause } = structured(await use('diagnose_host', { host })) as unknown as { cause: { advice: string } }
    expect(cause.advice).toMatch(/ask a person.*repair_exposure with overwrite: true.*accept_exposure/)
    expect(structured(await use('compare_exposure', { host }))).toMatchObject({
      planId,
      differences: [{ part: 'entry', overwrite: true }],
    })
    expect(errorOf(await use('repair_exposure', { host }))).toMatchObject({
      code: 'changed_elsewhere',
      retryable: false,
      nextAction: expect.stringContaining('compare_exposure'),
    })
    expect(isEdited(host)).toBe(true)
    expect(structured(await use('repair_exposure', { planId, overwrite: true }))).toMatchObject({ state: 'applied' })
    await expectWell(host)
    updateZone(lab, `update delete ${host} A`)
    expect(structured(await use('repair_exposure', { host }))).toMatchObject({ state: 'applied', planId })
    await expectWell(host)
    expect(structured(await use('accept_exposure', { host }))).toMatchObject({
      state: 'released',
      file: expect.stringContaining(host),
    })
    await expectReleased(host, planId)
    expect(errorOf(await use('repair_exposure', { host }))).toMatchObject({ code: 'plan_not_found' })
  }, 90_000)
})

describe('over HTTP', () => {
  test.each(process.env.CAMPAIGN ? (['repair', 'renew', 'accept'] as const) : (['repair'] as const))(
    '%s can be followed',
    async (action) => {
      const { host, planId } = await applied(lab, { subdomain: `follow-${action}`, tls: action === 'renew' })
      const answer = await run(lab, planId, action, { prefer: 'respond-async' })
      expect([answer.status, answer.headers.location]).toEqual([202, `/api/deploy/plans/${planId}`])
      const last = async () => (await planOf(lab, planId)).lastRun
      await until('the run has ended', async () => (await last()).state !== 'running')
      expect(await last()).toMatchObject({ action, state: 'succeeded' })
      if (action === 'accept') released.push(host)
      expect((await visit(lab.description.edges.primary, { host, path: '/healthz' })).status).toBeLessThan(400)
    },
    90_000,
  )

  test('a capability for another action is refused, and callers outside see no acts', async () => {
    const { host, planId } = await applied(lab, { subdomain: 'guarded' })
    edit(host)
    const headers = { 'x-deploy-capability': await granted(lab, planId, 'repair') }
    const other = await lab.call({ path: '/api/deploy/accept', body: { planId }, headers })
    expect([other.status, other.body.code]).toEqual([403, 'capability_invalid'])
    const outside = await lab.call({
      path: '/api/deploy/repair',
      body: { planId, overwrite: true },
      headers,
      from: 'public',
    })
    expect(outside.body.code).toBe('internal_network_required')
    const { body } = await lab.call({ path: `/api/diagnose?host=${host}`, from: 'public' })
    expect(body.cause).toMatchObject({
      code: 'file_edited',
      acts: [],
      advice: expect.stringContaining('administrator'),
    })
    expect(body).not.toHaveProperty('planId')
    const repaired = await lab.call({ path: '/api/deploy/repair', body: { planId, overwrite: true }, headers })
    expect([repaired.status, repaired.body.state]).toEqual([200, 'applied'])
  })
})
