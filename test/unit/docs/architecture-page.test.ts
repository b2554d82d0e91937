import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RUN_ACTIONS } from '../../../src/model/run.ts'
import { STEP_LIMITS_SECONDS } from '../../../src/runs/engine/limits.ts'

const page = readFileSync('docs/architecture.md', 'utf8')

/** The text below a heading, up to the next one. */
const section = (title: string): string => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? ''

const inBackticks = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

/** Rooms and what each may import, as lines that can be compared. */
const flattened = (rules: Iterable<readonly [string, readonly string[]]>): string[] =>
  [...rules].flatMap(([room, allowed]) => allowed.map((name) => `${room} -> ${name}`)).toSorted()

test('the table of rooms says what test/architecture.test.ts holds', () => {
  const code = readFileSync('test/architecture.test.ts', 'utf8')
  const [, table = ''] = /MAY_IMPORT[^=]*= \{\n([\s\S]*?)\n\}\n/.exec(code) ?? []
  const held = [...table.matchAll(/^ {2}(\w+): \[([\s\S]*?)\],$/gm)].map(
    ([, room = '', list = '']) => [room, [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name)] as const,
  )
  const told = [...section('Who may import whom').matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(
    ([, room = '', cell = '']) => [room, inBackticks(cell)] as const,
  )
  expect(held.length).toBeGreaterThan(20)
  expect(flattened(told)).toEqual(flattened(held))
  expect([...new Set(told.map(([room]) => room))].toSorted()).toEqual(held.map(([room]) => room).toSorted())
})

test('an apply is told in at most 20 files', () => {
  const files = [...section('How an apply walks').matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file)
  expect(files.length).toBeGreaterThan(10)
  expect(files.length).toBeLessThanOrEqual(20)
  expect(new Set(files).size).toBe(files.length)
})

test.each([
  ['the timeout of a plan', 'src/plan/settings.ts', 'HEALTH_TIMEOUT_SECONDS ='],
  ['the title and advice of a refusal', 'src/model/errors.ts', 'nextAction'],
  ['the record types that make a name taken', 'src/model/finding.ts', 'CONFLICTING_TYPES ='],
  ['a new record type that we write', 'src/model/receipt.ts', "'A' | 'AAAA'"],
  ['a new badge', 'src/model/badge.ts', 'type Badge ='],
  ['a new cause', 'src/diagnose/causes.ts', 'CAUSES'],
  ['the order of steps', 'src/plan/steps.ts', 'stepsToApply'],
  ['a new metric', 'src/metrics/metrics.ts', 'new Counter('],
  ['a new CLI command', 'src/compose/command-line.ts', 'new Command('],
  ['a new setting', 'src/config/config.ts', 'configSchema ='],
  ['a new event type', 'src/model/event.ts', 'EVENT_TYPES ='],
  ['a new migration', 'src/store/migrations.ts', 'MIGRATIONS'],
  ['the form of all log lines', 'src/runtime/log.ts', 'createLog'],
])('to change %s the page names %s, which has it', (subject, file, proof) => {
  const row = section('To change X, edit Y')
    .split('\n')
    .find((line) => line.startsWith(`| ${subject}`))
  expect(row).toContain(`\`${file.replace('src/', '')}\``)
  expect(readFileSync(file, 'utf8')).toContain(proof)
})

test('the limits of the steps are those of the code', () => {
  const rows = [...section('Limits of the steps').matchAll(/^\| `([\w-]+)` \| (\d+) \|$/gm)]
  expect(Object.fromEntries(rows.map(([, step, seconds]) => [step, Number(seconds)]))).toEqual(STEP_LIMITS_SECONDS)
})

test('every kind of run has a row', () => {
  const rows = [...section('Kinds of runs').matchAll(/^\| ([^|]*`[^|]*) \| /gm)].flatMap(([, cell = '']) =>
    inBackticks(cell),
  )
  expect(rows.toSorted()).toEqual([...RUN_ACTIONS].toSorted())
})
