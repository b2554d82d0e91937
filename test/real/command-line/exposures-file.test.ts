import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { visit } from '../../support/edge/visitor.ts'
import { applied, planOf } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Exposures in a file: export, diff, apply and import, each by the commands that a person types. */
let lab: TestLab
let file: string
const folder = tempFolder()
beforeAll(async () => {
  lab = await borrowLab()
  file = join(folder.path, 'exposures.yaml')
})
afterAll(async () => {
  folder[Symbol.dispose]()
  await lab?.stop()
})

const call = (...args: string[]) => command([...args, '--url', lab.description.inside])
const listed = (): { exposures: Record<string, unknown>[] } => parse(readFileSync(file, 'utf8'))
const write = (exposures: readonly unknown[]) => writeFileSync(file, stringify({ exposures }))
const entry = (name: string, more: object = {}) => ({
  host: `${name}.lab.test`,
  server: 25,
  port: 3000,
  tls: false,
  ...more,
})
const answers = async (name: string) =>
  (await visit(lab.description.edges.primary, { host: `${name}.lab.test` }).catch(() => ({ status: 0 }))).status

describe('a file of exposures', () => {
  test('is exported, and the service does not differ from it', async () => {
    await applied(lab, { subdomain: 'first' })
    await applied(lab, { subdomain: 'second', tls: true, expiresIn: 7_200 })
    const exported = await call('export')
    expect(exported.code).toBe(0)
    writeFileSync(file, exported.stdout)
    expect(listed().exposures).toMatchObject([
      { host: 'first.lab.test', server: '25', port: 3000, health: '/healthz', tls: false },
      { host: 'second.lab.test', tls: true, expiresAt: expect.stringMatching(/^\d{4}-/) },
    ])
    expect(await call('diff', '-f', file)).toMatchObject({ code: 0, stdout: expect.stringContaining('2 the same.') })
    const again = await call('apply', '-f', file)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to change.') })
  })

  test('shows what would come, change and stay, and ends with 9', async () => {
    const [first, second] = listed().exposures
    write([{ ...first, health: '/?changed' }, second, entry('third')])
    const { code, stdout } = await call('diff', '-f', file)
    expect(code).toBe(9)
    expect(stdout).toContain('+ third.lab.test  server 25, port 3000, health /healthz, http')
    expect(stdout).toContain('~ first.lab.test  health /healthz → /?changed')
    expect(stdout).toContain('1 to create, 1 to change, 0 to remove, 1 the same.')
    expect(await answers('third')).not.toBe(200)
    expect(await call('apply', '-f', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('pass --yes') })
  })

  test('is applied: created, changed in place, and nothing else', async () => {
    const applying = await call('apply', '-f', file, '--yes')
    expect(applying).toMatchObject({ code: 0 })
    expect(applying.stdout).toContain('Exposed: third.lab.test\nChanged: first.lab.test\n')
    expect(await answers('third')).toBe(200)
    expect((await call('diff', '-f', file)).code).toBe(0)
    const { hosts } = (await lab.call({ path: '/api/hosts?search=first' })).body
    const plan = await planOf(lab, hosts[0].planId)
    expect(plan.request).toMatchObject({ health: '/?changed', replaces: expect.stringMatching(/^plan_/) })
  })

  test('removes what it does not list only with --prune', async () => {
    const [first, second] = listed().exposures
    write([first, second])
    const kept = await call('diff', '-f', file)
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('is not in the file and stays') })
    await call('apply', '-f', file, '--yes')
    expect(await answers('third')).toBe(200)
    const pruned = await call('diff', '-f', file, '--prune')
    expect(pruned).toMatchObject({ code: 9, stdout: expect.stringContaining('- third.lab.test') })
    expect(await call('apply', '-f', file, '--prune', '--yes', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"verb": "remove"'),
    })
    expect(await answers('third')).not.toBe(200)
  })

  test('is imported without changing or removing anything', async () => {
    write([
      entry('first', { health: '/?imported' }),
      entry('fourth'),
      entry('over', { expiresAt: '2020-01-01T00:00:00Z' }),
    ])
    const { code, stdout } = await call('import', file, '--yes')
    expect(code).toBe(0)
    expect(stdout).toContain('has ended according to the file')
    expect(stdout).toContain('Exposed: fourth.lab.test')
    expect(await answers('fourth')).toBe(200)
    expect((await call('export')).stdout).toContain('/?changed')
  })

  test('changes nothing if one host would be refused; diff says the same, with the exit code of the refusal', async () => {
    write([entry('fifth'), entry('sick', { server: 253 }), entry('sixth'), entry('far', { host: 'far.else.test' })])
    const expected = /^! sick\.lab\.test {2}cannot be exposed: .+$/m
    const diff = await call('diff', '-f', file)
    expect(diff).toMatchObject({ code: 4, stdout: expect.stringMatching(expected) })
    const applying = await call('apply', '-f', file, '--yes')
    expect(applying).toMatchObject({ code: 4, stdout: expect.stringMatching(expected) })
    expect(applying.stdout).toContain('! far.else.test  cannot be exposed: ')
    expect(applying.stdout).toContain('Nothing was changed: 2 of 4 changes cannot be made.')
    expect([await answers('fifth'), await answers('sixth')].includes(200)).toBe(false)
    const told = JSON.parse((await call('apply', '-f', file, '--yes', '--json')).stdout)
    expect(told).toMatchObject({
      done: [],
      refused: [{ verb: 'create', host: 'sick.lab.test' }, { host: 'far.else.test' }],
    })
  })

  test.each([
    [
      'an unknown field',
      '- host: a.lab.test\n    server: 25\n    port: 1\n    colour: red',
      ':5: exposures[0].colour is not a setting',
    ],
    ['a missing field', '- host: a.lab.test\n    port: 1', ':2: exposures[0].server is missing'],
    ['a wrong value', '- host: a.lab.test\n    server: 25\n    port: many', ':4: exposures[0].port is not valid'],
    [
      'a host twice',
      '- {host: a.lab.test, server: 25, port: 1}\n  - {host: A.lab.test, server: 25, port: 1}',
      ':3: exposures[1].host is there twice',
    ],
    [
      'an end without a zone',
      '- {host: a.lab.test, server: 25, port: 1, expiresAt: 2026-01-01}',
      ':2: exposures[0].expiresAt is not valid',
    ],
  ])('is refused for %s, by line and field', async (_what, text, told) => {
    writeFileSync(file, `exposures:\n  ${text}\n`)
    for (const words of [['diff', '-f'], ['apply', '--yes', '-f'], ['import']])
      expect(await call(...words, file)).toMatchObject({ code: 2, stderr: expect.stringContaining(told) })
  })

  test('cannot be combined with a plan or a host, and is not told to callers from outside', async () => {
    expect((await call('apply')).stderr).toContain('Name a plan, or a file')
    expect((await call('apply', 'plan_x', '-f', file)).code).toBe(2)
    expect((await call('diff', 'first.lab.test', '-f', file)).code).toBe(2)
    const outside = await command(['export', '--url', lab.description.outside])
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('Only internal callers') })
  })
})
