// Runs a campaign by name: the long form of the test files whose path has that name, or `guards`, which is a program of its own.
import { execFileSync, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const given = process.argv.slice(2)
const VITEST = resolve(ROOT, 'node_modules/vitest/vitest.mjs')
const GUARDS = resolve(ROOT, 'test/guards/run.ts')
const args = given[0] === 'guards' ? [GUARDS, ...given.slice(1)] : [VITEST, 'run', ...given]

const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, CAMPAIGN: '1' } })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
const begun = performance.now()
child.once('close', (code) => {
  process.exitCode = code ?? 1
  if (code === 0 && given.length === 1) process.stdout.write(`\nFor the table of CONTRIBUTING.md: ${figure()}\n`)
})

/** How long it took, and of which commit it tells. `npm run release` compares that with the present one. */
function figure() {
  const seconds = Math.round((performance.now() - begun) / 1000)
  const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()
  const isClean = git('status', '--porcelain') === ''
  const commit = isClean ? ` (${git('rev-parse', '--short=8', 'HEAD')})` : ', of files that are not committed'
  return `${seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}${commit}`
}
