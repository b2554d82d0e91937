// Runs the files that failed once more, alone. A fault fails again; what only a busy machine made late passes and is listed, so
// that somebody mends the test. Many failures are never the machine's: then nothing is run again.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const MOST_FILES = 8
const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')

const failed = failedIn(process.argv[2] ?? '')
if (failed.length === 0 || failed.length > MOST_FILES) process.exit(1)

console.log(`\nThese files failed. They are run once more, alone:\n${failed.map(lineOf).join('\n')}\n`)
const names = failed.map(({ name }) => name)
// The Node of the project, as with npm.
const PATH = `${resolve(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
const { status } = spawnSync('vitest', ['run', '--maxWorkers=1', ...names], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, PATH },
})
if (status === 0) console.log(`\nPassed only the second time, and to be mended:\n${failed.map(lineOf).join('\n')}`)
process.exit(status ?? 1)

/** None where the checks before the tests failed, or the tests were ended. */
function failedIn(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults.filter(({ status }) => status === 'failed')
  } catch {
    return []
  }
}

function lineOf({ name, assertionResults }) {
  const tests = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
  return `- ${name}${tests.map((test) => `\n  ${test}`).join('')}`
}
