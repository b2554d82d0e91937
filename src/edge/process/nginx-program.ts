import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { EdgeFault } from '../contract.ts'
import { type Refusal, refusalIn } from '../reading/refusal.ts'
import type { EdgeSettings } from '../settings.ts'
import type { RunRequest, RunResult } from './nginx-thread.ts'

const TIMEOUT_MS = 60_000
/** The thread kills what takes too long; this is for a program or a thread that cannot even be killed. */
const HARD_TIMEOUT_MS = TIMEOUT_MS + 5_000
/** A dump holds every file of the configuration. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024
const IDLE_MS = 30_000

export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs nginx on a configuration, without a shell. Rejects with `unavailable` when it cannot be run to its end. */
export async function runNginx(
  { binary, prefix }: Pick<EdgeSettings, 'binary' | 'prefix'>,
  option: '-t' | '-T',
  config: string,
): Promise<Ended> {
  const args = [option, '-q', '-e', 'stderr', ...(prefix === undefined ? [] : ['-p', prefix]), '-c', config]
  const { code, cause = 'it did not end by itself', output, errors } = await runInThread(binary, args)
  if (code !== null) return { code, output, errors }
  throw new EdgeFault('unavailable', `nginx could not be asked about its configuration (${binary}: ${cause}).`)
}

/**
 * Starting a program holds up the thread that starts it for some milliseconds, in which nobody is answered. So a thread
 * of its own does it, begun with the first question and kept until there was none for a while: it takes some megabytes.
 */
let thread: Worker | undefined
let idle: NodeJS.Timeout | undefined
const waiting = new Map<number, (answer: RunResult) => void>()
let lastId = 0

function runInThread(binary: string, args: readonly string[]): Promise<RunResult> {
  clearTimeout(idle)
  thread ??= startThread()
  thread.ref()
  lastId += 1
  const question: RunRequest = { id: lastId, binary, args, timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES }
  const { promise, resolve } = Promise.withResolvers<RunResult>()
  const overdue = setTimeout(
    () => settle({ id: question.id, code: null, cause: 'it could not be stopped', output: '', errors: '' }),
    HARD_TIMEOUT_MS,
  )
  waiting.set(question.id, (answer) => {
    clearTimeout(overdue)
    resolve(answer)
  })
  thread.postMessage(question)
  return promise
}

function settle(answer: RunResult): void {
  waiting.get(answer.id)?.(answer)
  waiting.delete(answer.id)
}

function startThread(): Worker {
  // How this program was started (from a text, say) is not how a thread of it can be.
  const worker = new Worker(new URL(`nginx-thread${extname(import.meta.url)}`, import.meta.url), { execArgv: [] })
  worker.on('message', (answer: RunResult) => {
    settle(answer)
    // It keeps the service alive only while somebody waits.
    if (waiting.size > 0) return
    worker.unref()
    idle = setTimeout(stopThread, IDLE_MS).unref()
  })
  worker.on('error', () => undefined)
  worker.once('exit', () => {
    if (thread !== worker) return
    thread = undefined
    for (const id of [...waiting.keys()]) settle({ id, code: null, cause: 'its thread ended', output: '', errors: '' })
  })
  return worker
}

/** Nobody waits for it: the next question begins another. */
function stopThread(): void {
  const ended = thread
  thread = undefined
  void ended?.terminate()
}

/** Undefined: the configuration would load. Rejects with `unavailable` when nginx cannot be asked. */
export async function testConfiguration(settings: EdgeSettings, config: string): Promise<Refusal | undefined> {
  const { code, errors } = await runNginx(settings, '-t', config)
  return code === 0 ? undefined : refusalIn(errors)
}
