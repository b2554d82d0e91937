import { Readable, Writable } from 'node:stream'
import { run } from '../../../src/compose/command-line.ts'
import type { Ended, Starting } from './drawbridge.ts'

interface Surroundings extends Starting {
  /** The width of a terminal, which shows both outputs as one. Default: standard output and standard error are no terminal. */
  readonly columns?: number | undefined
}

class Taken extends Writable {
  text = ''
  constructor(columns?: number) {
    super()
    if (columns) Object.assign(this, { isTTY: true, columns, rows: 24 })
  }
  override _write(part: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += part.toString('utf8')
    done()
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command line in this process, as `drawbridge` of `drawbridge.ts` does, in a tenth of its time: a new process would spend most of it
 * with loading its code. One at a time, because streams, environment and exit code belong to the whole process. Nobody types: questions
 * need a real terminal.
 */
export function command(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const ended = last.then(() => captured(args, surroundings))
  last = ended.catch(() => undefined)
  return ended
}

async function captured(
  args: readonly string[],
  { environment = {}, input = '', columns }: Surroundings,
): Promise<Ended> {
  const [stdout, stderr] = [new Taken(columns), new Taken()]
  const giveBack = replaced({ stdout, stderr: columns ? stdout : stderr, stdin: Readable.from([input]) })
  const { env, exitCode } = process
  process.env = { ...env, ...environment }
  process.exitCode = undefined
  try {
    await run([process.execPath, 'drawbridge', ...args])
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text }
  } finally {
    process.env = env
    process.exitCode = exitCode
    giveBack()
  }
}

/** Returns the function that puts the streams of this process back. */
function replaced(streams: Readonly<Record<'stdout' | 'stderr' | 'stdin', object>>): () => void {
  const before = Object.keys(streams).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const)
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { configurable: true, value })
  return () => {
    for (const [name, descriptor] of before) if (descriptor) Object.defineProperty(process, name, descriptor)
  }
}
