import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applied, run } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

const page = readFileSync('docs/one-host.md', 'utf8')

let lab: TestLab
let folder: string
let exposed: Awaited<ReturnType<typeof applied>>
beforeAll(async () => {
  lab = await borrowLab()
  folder = lab.description.edges.primary.folder
  exposed = await applied(lab, { subdomain: 'one-host', tls: true })
}, 120_000)
afterAll(async () => {
  if (exposed) await run(lab, exposed.planId, 'remove')
  await lab?.stop()
})

/** The names at the beginning of the lines of a drawing that are indented by two spaces. */
function drawn(root: string): string[] {
  const [, drawing = ''] = page.split(`\n\`\`\`\n${root}\n`)
  return [...(drawing.split('```')[0] ?? '').matchAll(/^ {2}(\S+?)\/?(?: |$)/gm)].map(([, name = '']) => name)
}

/** Without what differs from apply to apply. */
const alike = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{32}/g, 'HEX')
    .replaceAll(/127\.\d+\.\d+\./g, '127.')
    .replaceAll(/(plan|exposure)_[0-9a-z]{26}/g, '$1')

test('docs/one-host.md draws the folder of an edge', () => {
  // Not every edge has one.
  const names = new Set([...readdirSync(folder), '.outside'])
  expect(drawn('/etc/nginx/drawbridge/').toSorted()).toEqual([...names].toSorted())
  const generation = readdirSync(join(folder, 'current')).filter((name) => !name.startsWith('.'))
  expect(drawn('generations/2/').toSorted()).toEqual(generation.toSorted())
})

test('it has every file in which the host stands, with its line', () => {
  const told = [...page.matchAll(/^\| `(\S+\/\d\d\.\w+)` \| (?:`(.+)`|the record, below) \|$/gm)].map(
    ([, file = '', line]) => [file, line === undefined ? 'record' : alike(line)],
  )
  const current = join(folder, 'current')
  const found = readdirSync(current, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(current, file)).isFile())
    .flatMap((file) => {
      const lines = readFileSync(join(current, file), 'utf8').split('\n')
      const line = lines.find((text) => text.includes(exposed.host))
      return line === undefined ? [] : [[file, file.startsWith('entries/') ? 'record' : alike(line)]]
    })
  expect(told.toSorted()).toEqual(found.toSorted())
})

test('it has the record, member by member, and the names of the files of the pair', () => {
  const shown = JSON.parse(/```json\n([\s\S]+?)```/.exec(page)?.[1] ?? '')
  const lines = readFileSync(join(folder, 'current', 'entries', '29.json'), 'utf8').split('\n')
  const record = lines.find((text) => text.startsWith(`{"host":"${exposed.host}"`)) ?? ''
  expect(alike(JSON.stringify(shown))).toBe(alike(record))
  const { certificate } = JSON.parse(record).entry
  expect(readdirSync(join(folder, 'pairs', certificate)).toSorted()).toEqual(['certificate.pem', 'key.pem'])
  expect(page).toContain(`pairs/${shown.entry.certificate}/certificate.pem\` and \`key.pem`)
})
