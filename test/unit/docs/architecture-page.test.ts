import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RUN_ACTIONS } from '../../../src/model/run.ts'
import { STEP_LIMITS_SECONDS } from '../../../src/runs/engine/limits.ts'

const page = readFileSync('docs/architecture.md', 'utf8')

/** The text below a heading, up to the next one. */
const section = (title: string): string => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? ''

const inBackticks = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

test('the map names every folder of src/, each with a line, and no other', () => {
  const rooms = [...section('The folders').matchAll(/^ {2}(\w+)\/ +\S/gm)].map(([, name = '']) => name)
  expect(rooms.toSorted()).toEqual(foldersIn('src').toSorted())
})

test('the map names the folders beside src/', () => {
  const named = [...section('The folders').matchAll(/(?:^|\s{3,})(\w+)\//gm)].map(([, name]) => name)
  for (const folder of ['bin', 'web', 'lab', 'network', 'bench', 'docs', 'test']) expect(named).toContain(folder)
})

test('the walk of an apply has as many files as its first sentence says, each named once', () => {
  const walk = section('How an apply walks')
  const [, said] = /^The main line of an apply is (\d+) files/m.exec(walk) ?? []
  const steps = walk.slice(walk.indexOf('\n1. '), walk.indexOf('\n\nStep *check*'))
  const files = inBackticks(steps).filter((word) => word.endsWith('.ts'))
  expect(files).toHaveLength(Number(said))
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
  const [row] = new RegExp(`^\\| ${subject}.*$`, 'm').exec(section('To change X, edit Y')) ?? []
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
