import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { edgeAgentConfig } from '../../../lab/edge-agents.ts'
import { entryFile } from '../../support/lab/entry-file.ts'
import { applied } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** The lines of a file are shown by `diff` on the machine of its edge, and nowhere else. */
let lab: TestLab
let planId: string
const HOST = 'line-by-line.lab.test'
/** No service may tell it. */
const FOREIGN = 'typed-by-hand'
beforeAll(async () => {
  lab = await borrowLab()
  planId = (await applied(lab, { subdomain: 'line-by-line' })).planId
})
afterAll(() => lab?.stop())

const diff = (...more: string[]) => command(['diff', HOST, '--url', lab.description.inside, ...more])
const ofService = () => ['--config', join(lab.state, 'drawbridge.yaml')]
const edgeOf = (name: 'primary' | 'secondary') => lab.description.edges[name]

/** With the text of the file changed by hand as long as `work` runs. Resolves with its lines of the host before and after. */
async function edited(
  name: 'primary' | 'secondary',
  change: (text: string) => string,
  work: (lines: { readonly before: string; readonly after: string }) => Promise<void>,
  host = HOST,
): Promise<void> {
  const file = entryFile(edgeOf(name), host)
  const before = readFileSync(file, 'utf8')
  const lineIn = (text: string) => text.split('\n').find((line) => line.startsWith(`${host} `)) ?? ''
  writeFileSync(file, change(before))
  try {
    await work({ before: lineIn(before), after: lineIn(change(before)) })
  } finally {
    writeFileSync(file, before)
  }
}

const otherBackend = (text: string) =>
  text.replace(new RegExp(`^${HOST} .*$`, 'm'), `${HOST} http://192.168.45.25:3999; # ${FOREIGN}`)

test('the line as it was applied and as it stands is shown with the configuration of the edge', () =>
  edited('primary', otherBackend, async ({ before, after }) => {
    const { code, stdout } = await diff(...ofService())
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining(`\n    - ${before}\n    + ${after}\nTo write it again:`),
    ])
    const environment = { DRAWBRIDGE_CONFIG: join(lab.state, 'drawbridge.yaml') }
    const found = await command(['diff', HOST, '--url', lab.description.inside, '--json'], { environment })
    const { drifts } = JSON.parse(found.stdout)
    expect(drifts[0].differences).toMatchObject([{ field: 'backend', lines: { expected: [before], found: [after] } }])
  }))

test('from elsewhere diff says on which edge to run it, and the service tells no line', () =>
  edited('primary', otherBackend, async ({ before }) => {
    const { code, stdout } = await diff()
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`\nTo see the lines: +drawbridge diff ${HOST}, on the machine of edge 23, as root or the owner`),
      ),
    ])
    const told = await lab.call({ path: `/api/deploy/plans/${planId}/drift` })
    for (const text of [stdout, told.text]) {
      expect(text).not.toContain(FOREIGN)
      expect(text).not.toContain(before)
    }
  }))

test('another user of the machine of the edge sees no line', () =>
  edited('primary', otherBackend, async () => {
    const user = vi.spyOn(process, 'getuid').mockReturnValue(4_242)
    const { stdout } = await diff(...ofService()).finally(() => user.mockRestore())
    expect(stdout).toContain('on the machine of edge 23, as root')
    expect(stdout).not.toContain(FOREIGN)
  }))

test('on the machine of one edge, the lines of the other edge are named as its', () =>
  edited('secondary', otherBackend, async ({ before, after }) => {
    using folder = tempFolder()
    const configOf = (name: 'primary' | 'secondary') => {
      const file = join(folder.path, `${name}.yaml`)
      const agent = { ...edgeAgentConfig(lab.description, edgeOf(name)), socket: { path: join(folder.path, 'socket') } }
      writeFileSync(file, stringify(agent))
      return ['--config', file]
    }
    const there = await diff(...configOf('secondary'))
    expect(there.stdout).toContain(` on edge 73\n`)
    expect(there.stdout).toContain(`\n    - ${before}\n    + ${after}\n`)
    expect(there.stdout).not.toContain('To see the lines')
    const here = await diff(...configOf('primary'))
    expect(here.stdout).toContain('on the machine of edge 73, as root')
    expect(here.stdout).not.toContain(FOREIGN)
  }))

test('in a server block each field has its own lines', async () => {
  const { host } = await applied(lab, { subdomain: 'line-by-line-block', options: { maxBody: '8m' } })
  const change = (text: string) =>
    text.replace(/^.*client_max_body_size 8m;$/m, `  client_max_body_size 9m;\n  # ${FOREIGN}`)
  await edited(
    'primary',
    change,
    async () => {
      const { stdout } = await command(['diff', host, '--url', lab.description.inside, ...ofService()])
      expect(stdout).toMatch(
        / {2}maxBody: 8m → 9m .*\n(?: {4}[^-+].*\n)+ {4}- client_max_body_size 8m;\n {4}\+ client_max_body_size 9m;\n/,
      )
      expect(stdout).toMatch(new RegExp(` {2}server block: 1 line .*\n(?: {4}[^-+].*\n)+ {4}\\+ # ${FOREIGN}\n`))
    },
    host,
  )
})
