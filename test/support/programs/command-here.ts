import { Writable } from 'node:stream'
import { run } from '../../../src/compose/command-line.ts'
import type { Ended } from './drawbridge.ts'

interface Surroundings {
  /** The width of a terminal. Default: standard output and standard error are no terminal. */
  readonly columns?: number
  readonly environment?: Readonly<Record<string, string>>
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command of `drawbridge` in this process, in which a new one would spend most of its time with loading its code. Standard
 * output, standard error, environment and exit code belong to the whole process, so calls run one after the other. Nobody types:
 * questions need a real terminal.
 */
export function commandHere(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const ended = last.then(() => runAlone(args, surroundings))
  last = ended.catch(() => undefined)
  return ended
}

async function runAlone(args: readonly string[], { columns, environment = {} }: Surroundings): Promise<Ended> {
  const [out, error] = [taken(columns), taken(columns)]
  const former = {
    stdout: Object.getOwnPropertyDescriptor(process, 'stdout') ?? {},
    stderr: Object.getOwnPropertyDescriptor(process, 'stderr') ?? {},
    environment: { ...process.env },
  }
  Object.defineProperty(process, 'stdout', { configurable: true, value: out.stream })
  Object.defineProperty(process, 'stderr', { configurable: true, value: columns ? out.stream : error.stream })
  Object.assign(process.env, environment)
  try {
    await run(['node', 'drawbridge', ...args])
    return { code: Number(process.exitCode ?? 0), stdout: out.text(), stderr: error.text() }
  } finally {
    Object.defineProperty(process, 'stdout', former.stdout)
    Object.defineProperty(process, 'stderr', former.stderr)
    for (const name of Object.keys(environment)) {
      const value = former.environment[name]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    process.exitCode = undefined
  }
}

function taken(columns: number | undefined) {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(part, _encoding, done) {
      text += String(part)
      done()
    },
  })
  return { stream: Object.assign(stream, columns ? { isTTY: true, columns, rows: 24 } : {}), text: () => text }
}
