import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { tempFolder } from '../../support/temp-folder.ts'

vi.setConfig({ testTimeout: 120_000 })

/** The command blocks of README.md and docs/tour.md, as they stand there, on a lab with other addresses. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
}, 60_000)
afterAll(() => lab?.stop())

const blocksOf = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)

/** The lines of the sh block that has this text. */
function blockWith(page: string, text: string): string {
  const blocks = blocksOf(page)
  const [found, ...others] = blocks.filter((block) => block.includes(text))
  expect(others).toEqual([])
  return found ?? ''
}

const withAddresses = (script: string): string =>
  script
    .replaceAll('http://127.0.45.23:8045', lab.description.api)
    .replaceAll('http://localhost:8046', lab.description.inside)
    .replaceAll('127.0.45.10', lab.description.callers.internal)
    .replaceAll('127.0.45.23', lab.description.edges.primary.address)
    .replaceAll('8443', String(lab.description.edges.primary.https))
    .replaceAll('.lab/ca.pem', lab.description.acme.ca)
    .replaceAll('bin/drawbridge', launcher())

/** Runs a script. Rejects if one of its commands fails. */
async function runScript(script: string): Promise<string> {
  using folder = tempFolder()
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder.path })
  return stdout
}

test('the tour by the command line', async () => {
  // Without a terminal nobody can be asked.
  const script = blockWith('README.md', 'bin/drawbridge up').replaceAll(
    /^(bin\/drawbridge (?:up|down) [^#\n]*)/gm,
    '$1 --yes ',
  )
  const printed = await runScript(withAddresses(script))
  expect(printed).toContain('hello.lab.test')
  expect(printed).toContain('RUNNING')
})

test('the tour by the API', async () => {
  const answers = (await runScript(withAddresses(blockWith('docs/tour.md', '/api/deploy/plan'))))
    .split('\n')
    .filter((line) => line !== '')
  const expected = ['"flow":"capability"', '"planId":"', '"state":"applied"', '', '"state":"removed"']
  expect(answers).toHaveLength(expected.length + 2)
  for (const [at, text] of expected.entries()) expect(answers[at]).toContain(text)
  expect(answers.at(-2)).toContain('"code":"internal_network_required"')
  expect(answers.at(-1)).toContain('"code":"backend_unhealthy"')
})

test('each block is run by a test: these by this file, the others by that of the package and by whoever runs the tests', () => {
  const first = blocksOf('README.md').map((block) => block.split(' ', 2).join(' '))
  expect(first).toEqual(['npm start', 'export DRAWBRIDGE_URL=http://localhost:8046\nbin/drawbridge', 'npm run'])
  expect(blocksOf('docs/tour.md')).toHaveLength(1)
})
