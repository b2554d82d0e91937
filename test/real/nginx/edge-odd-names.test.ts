import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { escapeText } from '../../../src/model/escape-text.ts'
import { testWithout } from '../../../src/nginx/adopt/test-without.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

/** Files of an administrator with names that nginx's pattern matches, and that mean something in its language or in patterns. */
const NAMES = [
  'my site',
  'a*b',
  'a?b',
  'axb',
  'a[x]b',
  'q"uote',
  "q'uote",
  'back\\slash',
  'back\\*slash',
  '$x{y}#;',
  '\\t',
]
const SITE = { host: 'a.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:9' }

let at: TestEdge
beforeEach(async () => {
  at = await startTestEdge()
})
afterEach(() => at?.stop())

/** nginx takes each of these texts once only. */
const textOf = (at: number) => `log_format odd_${at} "x";\n`
function write(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [at, name] of NAMES.entries()) writeFileSync(join(folder, `${name}.conf`), textOf(at))
}

test('a change is tested with each file beside ours once, whatever its name, and its fault is told with that name', async () => {
  write(at.folder)
  await at.place(SITE)
  expect(at.keysOf('backends')).toEqual([SITE.host])
  for (const name of ['my site', 'a*b']) {
    const file = join(at.folder, `${name}.conf`)
    const before = readFileSync(file)
    writeFileSync(file, 'unknown_word;\n')
    await expect(at.remove(SITE.host), name).rejects.toMatchObject({
      kind: 'config_broken',
      message: expect.stringContaining(`(${escapeText(file)}, line 1)`),
    })
    writeFileSync(file, before)
  }
  await at.remove(SITE.host)
})

test('a site is tested out of its file with each file beside it once, whatever its name', async () => {
  const sites = join(dirname(at.config), 'sites')
  write(sites)
  const file = join(sites, 'my site.conf')
  const main = readFileSync(at.config, 'utf8')
  writeFileSync(at.config, main.replace('include drawbridge', 'include sites/*.conf; include drawbridge'))
  expect(await testWithout(at, new Map([[file, 'log_format changed "x";\n']]))).toBeUndefined()
  expect(await testWithout(at, new Map([[file, 'unknown_word;\n']]))).toMatchObject({ file, line: 1 })
})
