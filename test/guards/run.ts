// Takes each guard of the table out of a copy of the checkout, and runs the test that has to turn red. As many copies as cores work at once.
// Usage: npm run campaign -- guards [--only NAME … | --from NAME]
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { GUARDS, type Guard, occurrences } from './guards.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Ends a test that hangs without its guard. */
const LIMIT_MS = 600_000

/** What a run of a test file showed. `failed` is undefined if the file could not be run. */
interface Shown {
  readonly file: string
  readonly passed: readonly string[]
  readonly failed: readonly string[] | undefined
  readonly output: string
}

/** A copy of the files that git knows or would add, so that the checkout itself is never changed. */
function copyOfCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-guards-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  const files = listed.toString().split('\0')
  for (const file of files.filter((name) => name !== '' && existsSync(join(ROOT, name))))
    cpSync(join(ROOT, file), join(folder, file))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/**
 * Runs test files in the copy, by default to the first test that is red. The tests of the table import the source, so nothing has to be
 * built. Nothing is told of a file that did not end.
 */
async function runTests(folder: string, files: readonly string[], more: readonly string[] = ['--bail=1']) {
  const report = join(folder, 'guards-report.json')
  rmSync(report, { force: true })
  const program = join(folder, 'node_modules/vitest/vitest.mjs')
  const args = [program, 'run', ...files, ...more, '--reporter=json', `--outputFile=${report}`]
  const output = await outputOf(args, folder, LIMIT_MS * files.length)
  if (!existsSync(report)) return files.map((file): Shown => ({ file, passed: [], failed: undefined, output }))
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { name: string; message: string; assertionResults: { status: string; fullName: string }[] }[]
  }
  return testResults.map(({ name, message, assertionResults }): Shown => {
    const of = (status: string) => assertionResults.filter((one) => one.status === status).map((one) => one.fullName)
    return { file: relative(folder, name), passed: of('passed'), failed: of('failed'), output: message }
  })
}

/** Runs a program of Node and resolves with what it wrote to stderr. It ends with this process, and with all that it started. */
async function outputOf(args: readonly string[], cwd: string, limitMs: number): Promise<string> {
  // As `npm test` runs it: the long form of a test is not needed to see a guard.
  const { CAMPAIGN: _long, ...env } = process.env
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  process.prependOnceListener('exit', end)
  const limit = setTimeout(end, limitMs)
  const written = await Array.fromAsync(child.stderr)
  clearTimeout(limit)
  process.off('exit', end)
  return Buffer.concat(written).toString().trim()
}

/** Why a test file cannot show anything: it has to pass as the code is. */
function faultOfTest({ file, passed, failed, output }: Shown, guards: readonly Guard[]): string | undefined {
  if (failed === undefined || passed.length === 0) return `${file} cannot be run. ${output}`
  if (failed.length > 0) return `${file} is red with all guards: ${failed.join('; ')}`
  const isIdle = ({ filter }: Guard) => filter !== undefined && !passed.some((name) => name.includes(filter))
  const idle = guards.find((guard) => guard.test === file && isIdle(guard))
  return idle && `${file} has no test "${idle.filter}".`
}

/** Undefined if the test turned red without the guard, and otherwise what is wrong. */
async function faultOf({ file, from, to, test, filter }: Guard, folder: string): Promise<string | undefined> {
  const path = join(folder, file)
  const source = readFileSync(path, 'utf8')
  if (occurrences(source, from) !== 1) return `${file} has the text of the guard ${occurrences(source, from)} times.`
  try {
    writeFileSync(
      path,
      source.replace(from, () => to),
    )
    const named = filter === undefined ? [] : ['-t', filter.replaceAll(/\W/g, '\\$&')]
    const [shown] = await runTests(folder, [test], ['--bail=1', ...named])
    const { failed, output } = shown ?? { failed: undefined, output: '' }
    if (failed === undefined) return `${test} did not end. ${output}`
    if (failed.length > 0) return undefined
    return output === '' ? 'GREEN' : `no test of ${test} failed by itself: ${output}`
  } finally {
    writeFileSync(path, source)
  }
}

function chosen(): readonly Guard[] {
  const { values } = parseArgs({ options: { only: { type: 'string', multiple: true }, from: { type: 'string' } } })
  const named = [...(values.only ?? []), ...(values.from === undefined ? [] : [values.from])]
  const unknown = named.find((name) => !GUARDS.some((guard) => guard.name === name))
  if (unknown !== undefined) throw new Error(`No guard is called "${unknown}". test/guards/README.md lists them.`)
  if (values.only) return GUARDS.filter(({ name }) => values.only?.includes(name))
  return GUARDS.slice(values.from === undefined ? 0 : GUARDS.findIndex(({ name }) => name === values.from))
}

const guards = chosen()
const copies = Array.from({ length: availableParallelism() }, copyOfCheckout)
const faults: string[] = []
const files = [...new Set(guards.map(({ test }) => test))]
const well = new Set<string>()
for (const shown of await runTests(copies[0] ?? '', files, [])) {
  const fault = faultOfTest(shown, guards)
  if (fault === undefined) well.add(shown.file)
  else process.stdout.write(`${fault}\n`)
}
faults.push(...files.filter((file) => !well.has(file)))
const waiting = guards.filter(({ test }) => well.has(test))
async function work(folder: string): Promise<void> {
  for (let guard = waiting.shift(); guard; guard = waiting.shift()) {
    const fault = await faultOf(guard, folder)
    if (fault !== undefined) faults.push(guard.name)
    process.stdout.write(`${fault ?? 'red'}  ${guard.name}  →  ${guard.file}  →  ${guard.test}\n`)
  }
}
await Promise.all(copies.map(work))
process.stdout.write(`${guards.length} guards, ${faults.length} not found.\n`)
process.exitCode = faults.length === 0 ? 0 : 1
