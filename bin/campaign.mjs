// Runs a campaign by name: the long form of the test files whose path has that name, or `guards`, which is a program of its own.
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const given = process.argv.slice(2)
const VITEST = resolve(ROOT, 'node_modules/vitest/vitest.mjs')
const GUARDS = resolve(ROOT, 'test/guards/run.ts')
const args = given[0] === 'guards' ? [GUARDS, ...given.slice(1)] : [VITEST, 'run', ...given]

const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, CAMPAIGN: '1' } })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.once('close', (code) => {
  process.exitCode = code ?? 1
})
