// Runs the checks of `npm run check` two at a time: the compiler takes as long as all the others together.
// Every check runs even if another one fails, so that one run shows all that is wrong.
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const AT_ONCE = 2

/** By its path: the older compiler, whose interface openapi-typescript needs, has the same name in node_modules/.bin. */
const TSC = 'typescript-7/bin/tsc'
/** The longest first. */
const CHECKS = [
  `${TSC} -p tsconfig.json`,
  '.bin/knip',
  '.bin/biome check .',
  `${TSC} -p test/browser/tsconfig.json`,
  `${TSC} -p web/tsconfig.json`,
]

/** Prints what the check printed when it has ended, so that two of them do not mix. Resolves with whether it passed. */
function passes(check) {
  const [program, ...args] = check.split(' ')
  const stdio = ['ignore', 'pipe', 'pipe']
  return new Promise((settle) => {
    let output = ''
    const child = spawn(resolve(ROOT, 'node_modules', program), args, { cwd: ROOT, stdio })
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.once('error', ({ message }) => settle(report(check, false, `${message}. Run \`npm ci\`.\n`)))
    child.once('close', (code) => settle(report(check, code === 0, output)))
  })
}

function report(check, isPassed, output) {
  process.stdout.write(output)
  if (!isPassed) process.stderr.write(`The check \`${check}\` failed. Its output is above.\n`)
  return isPassed
}

const waiting = [...CHECKS]
async function work() {
  for (let check = waiting.shift(); check; check = waiting.shift()) if (!(await passes(check))) process.exitCode = 1
}
await Promise.all(Array.from({ length: AT_ONCE }, work))
