import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { type Agent, errorOf, startAgentHere, structured } from '../../support/http/agent.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { forgetReleased } from '../../support/lab/released.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'

/**
 * Ten tasks by the command line and by the tools of agents, from the first call to the end. Every further call is the one that the
 * answer before names, as it stands there. The number of calls is the length of each list.
 */
let lab: TestLab
let agent: Agent
beforeAll(async () => {
  lab = await borrowLab()
  agent = await startAgentHere(lab.description.inside)
})
afterAll(async () => {
  await agent?.close()
  if (lab) forgetReleased(lab, ['cli-kept.lab.test', 'cli-stuck.lab.test', 'mcp-kept.lab.test', 'mcp-stuck.lab.test'])
  await lab?.stop()
})

const edit = (host: string) => editEntry(entryFile(lab.description.edges.primary, host), host)
const exposed = async (subdomain: string, more: object = {}): Promise<string> =>
  (await applied(lab, { subdomain, ...more })).host

/** A plan whose apply fails after its entry was edited, so that nothing can be put back. */
async function stuckPlan(subdomain: string, plan: (port: number) => Promise<string>) {
  const host = `${subdomain}.${lab.description.zone}`
  const file = entryFile(lab.description.edges.primary, host)
  let isToEdit = false
  const backend = await startWebBackend(lab, (_request, response) => {
    if (isToEdit) editEntry(file, host)
    isToEdit = false
    response.writeHead(500).end()
  })
  const planId = await plan(backend.port)
  isToEdit = true
  return { planId, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() }
}

describe('by the command line', () => {
  const environment = () => ({
    DRAWBRIDGE_URL: lab.description.inside,
    DRAWBRIDGE_CONFIG: join(lab.state, 'drawbridge.yaml'),
  })
  const type = async (line: string) => {
    const { code, stdout, stderr } = await command(line.split(' '), { environment: environment() })
    return { code, said: `${stdout}${stderr}`.replaceAll(/\s+/g, ' ') }
  }
  /** The command that the text names first and that begins so. A script answers the question with --yes. */
  const named = (said: string, begin: string): string => {
    const [, found] = new RegExp(`drawbridge (${begin}[^,;"]*?)(?=\\.? (?:[A-Z]|or |$)|, |\\.?$)`).exec(said) ?? []
    expect(found, `${begin} in ${said}`).toBeDefined()
    return `${found}`
  }

  test('expose: plan, apply', async () => {
    const { said } = await type('plan cli-new.lab.test --server 25 --port 3000 --no-tls')
    expect(await type(`${named(said, 'apply ')} --yes`)).toMatchObject({
      code: 0,
      said: expect.stringContaining('Exposed'),
    })
  }, 60_000)

  test('find why a host is red and repair its drift: diagnose, diff, repair', async () => {
    const host = await exposed('cli-red')
    edit(host)
    const { said: cause } = await type(`diagnose ${host}`)
    const { said: differs } = await type(named(cause, 'diff '))
    expect(await type(`${named(differs, 'repair ')} --yes`)).toMatchObject({ code: 0 })
    expect((await type(`status ${host}`)).code).toBe(0)
  }, 60_000)

  test('a repair that would overwrite names host and command: repair, repair --overwrite', async () => {
    const host = await exposed('cli-refused')
    edit(host)
    const { code, said } = await type(`repair ${host}`)
    expect(code).toBe(3)
    expect(await type(named(said, 'repair \\S+ --overwrite'))).toMatchObject({ code: 0 })
  }, 60_000)

  test('accept drift: diff, accept', async () => {
    const host = await exposed('cli-kept')
    edit(host)
    const { said } = await type(`diff ${host}`)
    expect(await type(`${named(said, 'accept ')} --yes`)).toMatchObject({ code: 0 })
  }, 60_000)

  test('extend, mute, maintenance, renew, remove: one call each', async () => {
    const host = await exposed('cli-one', { tls: true, expiresIn: 3600 })
    for (const line of [
      `extend ${host} --for 2h`,
      `mute ${host} --for 2h --yes`,
      `maintenance ${host} on --yes`,
      `renew ${host} --yes`,
      `down ${host} --yes`,
    ])
      expect((await type(line)).code, line).toBe(0)
  }, 90_000)

  test('resolve a blocked run: apply, resolve', async () => {
    await using stuck = await stuckPlan('cli-stuck', async (port) => {
      const { said } = await type(`plan cli-stuck.lab.test --server 25 --port ${port} --health / --no-tls`)
      return named(said, 'apply ').split(' ')[1] ?? ''
    })
    const { code, said } = await type(`apply ${stuck.planId}`)
    expect(code, said).toBe(6)
    const [, resolve = ''] = /drawbridge (resolve \S+)/.exec(said) ?? []
    expect(resolve).toBe(`resolve ${stuck.planId}`)
    const { code: left, said: shown } = await type(resolve)
    const ended = left === 0 ? left : (await type(named(shown, 'resolve \\S+ --accept'))).code
    expect(ended, shown).toBe(0)
  }, 90_000)
})

describe("by the tools, with the SDK's client", () => {
  const use = (name: string, args: Record<string, unknown>) => agent.use(name, args)
  /** The tools that a sentence names, in its order: they are there, so none of them leads nowhere. */
  const toolsIn = (sentence: unknown): string[] => {
    const words = `${sentence}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
    return words.filter((word) => agent.tools.some(({ name }) => name === word))
  }

  test('expose: plan_exposure, apply_plan, wait_for_host', async () => {
    const host = `mcp-new.${lab.description.zone}`
    const plan = structured(
      await use('plan_exposure', { host, server: '25', port: 3000, health: '/healthz', tls: false }),
    )
    structured(await use('apply_plan', { planId: plan.planId }))
    expect(structured(await use('wait_for_host', { host }))).toMatchObject({ reached: true })
  }, 60_000)

  test('find why a host is red and repair its drift: list_hosts, diagnose_host, compare_exposure, repair_exposure', async () => {
    const host = await exposed('mcp-red')
    edit(host)
    const { cause } = structured(await use('diagnose_host', { host })) as unknown as { cause: { advice: string } }
    expect(toolsIn(cause.advice)).toEqual(['compare_exposure', 'repair_exposure', 'accept_exposure'])
    const { hosts } = structured(await use('list_hosts', { needsAttention: true, search: host })) as unknown as {
      hosts: object[]
    }
    expect(hosts.length).toBeLessThanOrEqual(1)
    structured(await use('compare_exposure', { host }))
    const refused = errorOf(await use('repair_exposure', { host }))
    expect(toolsIn(refused.nextAction)).toEqual(['compare_exposure', 'repair_exposure', 'accept_exposure'])
    structured(await use('repair_exposure', { host, overwrite: true }))
    expect(structured(await use('wait_for_host', { host }))).toMatchObject({ reached: true })
  }, 60_000)

  test('accept drift: compare_exposure, accept_exposure', async () => {
    const host = await exposed('mcp-kept')
    edit(host)
    structured(await use('compare_exposure', { host }))
    expect(structured(await use('accept_exposure', { host }))).toMatchObject({ state: 'released' })
  }, 60_000)

  test('extend, mute, maintenance, renew, remove: one call each', async () => {
    const host = await exposed('mcp-one', { tls: true, expiresIn: 3600 })
    for (const [tool, args, told = {}] of [
      ['extend_exposure', { expiresIn: 7200 }],
      ['mute_host', { expiresIn: 7200 }],
      ['mute_host', { on: false }],
      ['set_maintenance', { on: true }],
      ['set_maintenance', { on: false }],
      ['renew_certificate', {}, { certificate: { source: 'issued' } }],
      ['remove_exposure', {}],
    ] as const)
      expect(structured(await use(tool, { host, ...args }))).toMatchObject(told)
  }, 90_000)

  test('resolve a blocked run: apply_plan, and the command that a person is asked for', async () => {
    await using stuck = await stuckPlan('mcp-stuck', async (port) => {
      const host = `mcp-stuck.${lab.description.zone}`
      return structured(await use('plan_exposure', { host, server: '25', port, health: '/', tls: false })).planId ?? ''
    })
    const refused = errorOf(await use('apply_plan', { planId: stuck.planId }))
    expect(refused).toMatchObject({ code: 'rollback_blocked', retryable: false })
    expect(refused.nextAction).toContain(`drawbridge resolve ${stuck.planId}`)
    expect(toolsIn(refused.nextAction)).toEqual(['get_policy'])
    const { configFile = '' } = structured(await use('get_policy', {}))
    const resolve = ['resolve', stuck.planId, '--accept', '--config', configFile]
    expect(await command(resolve)).toMatchObject({ code: 0 })
  }, 90_000)
})
