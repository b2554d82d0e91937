import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { type Refusal, refusalIn } from '../../estate/reading/refusal.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { untilAborted } from '../../primitives/abort.ts'
import type { Clock, Timer } from '../../primitives/clock.ts'
import type { KillRequest, RunRequest, RunResult } from './nginx-thread.ts'

const TIMEOUT_MS = 60_000
/** The thread kills nginx after TIMEOUT_MS. This limit covers an nginx or a thread that does not react to the kill. */
const HARD_TIMEOUT_MS = TIMEOUT_MS + 5_000
/** The output of `nginx -T` has every configuration file. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024
const IDLE_MS = 30_000

export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/**
 * Runs nginx on a configuration, without a shell. Rejects with `unavailable` when nginx does not exit with a code. When
 * `signal` aborts, nginx is killed, and the call rejects with the reason without waiting for its end.
 */
export async function runNginx(
  { binary, prefix, clock }: Pick<EdgeSettings, 'binary' | 'prefix' | 'clock'>,
  option: '-t' | '-T',
  config: string,
  signal?: AbortSignal,
): Promise<Ended> {
  const args = [option, '-q', '-e', 'stderr', ...(prefix === undefined ? [] : ['-p', prefix]), '-c', config]
  return ended(binary, 'test the nginx configuration', await runInThread(binary, args, clock, signal))
}

/**
 * Runs an nginx with the file `nginx.conf` in a folder until `signal` aborts, and resolves when it has ended. It must not be a
 * daemon. It is killed after TIMEOUT_MS in any case.
 */
export async function runCopy(
  { binary, clock }: Pick<EdgeSettings, 'binary' | 'clock'>,
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly errors: string }> {
  const args = ['-e', 'stderr', '-p', folder, '-c', `${folder}/nginx.conf`]
  return runInThread(binary, args, clock, signal).catch((error: unknown) => {
    if (signal.aborted) return { errors: '' }
    throw error
  })
}

/** The output of `nginx -V`. Rejects with `unavailable` if it cannot be run. */
export async function runVersion(binary: string, clock: Clock): Promise<string> {
  const { output, errors } = ended(binary, 'read its version', await runInThread(binary, ['-V'], clock, undefined))
  return output + errors
}

function ended(binary: string, purpose: string, { code, cause, output, errors }: RunResult): Ended {
  if (code !== null) return { code, output, errors }
  const reason = cause ?? 'killed by a signal or a timeout'
  throw new EdgeFault(
    'unavailable',
    `${binary} could not be run to ${purpose} (${reason}). Check the path and the permissions.`,
  )
}

/**
 * Starting a program blocks the calling thread for some milliseconds. A worker thread does it, so that the service can answer
 * requests meanwhile. The thread starts with the first run and stops after IDLE_MS without one, because it uses some megabytes.
 */
let thread: Worker | undefined
let idle: Timer | undefined
const waiting = new Map<number, (answer: RunResult) => void>()
let lastId = 0

async function runInThread(
  binary: string,
  args: readonly string[],
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  signal?.throwIfAborted()
  idle?.cancel()
  thread ??= startThread(clock)
  const worker = thread
  worker.ref()
  lastId += 1
  const question: RunRequest = { id: lastId, binary, args, timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES }
  const { promise, resolve } = Promise.withResolvers<RunResult>()
  const overdue = clock.after(HARD_TIMEOUT_MS, () =>
    settle({ id: question.id, code: null, cause: 'could not be killed', output: '', errors: '' }),
  )
  waiting.set(question.id, (answer) => {
    overdue.cancel()
    resolve(answer)
  })
  const kill = () => worker.postMessage({ kill: question.id } satisfies KillRequest)
  signal?.addEventListener('abort', kill, { once: true })
  worker.postMessage(question)
  return untilAborted(promise, signal).finally(() => signal?.removeEventListener('abort', kill))
}

function settle(answer: RunResult): void {
  waiting.get(answer.id)?.(answer)
  waiting.delete(answer.id)
}

/** `clock`: the clock of the first run, used for the pauses after all runs. */
function startThread(clock: Clock): Worker {
  // A worker thread cannot use all options of this process, such as --eval.
  const worker = new Worker(new URL(`nginx-thread${extname(import.meta.url)}`, import.meta.url), { execArgv: [] })
  worker.on('message', (answer: RunResult) => {
    settle(answer)
    // The thread must keep the process alive only while a run is pending.
    if (waiting.size > 0) return
    worker.unref()
    idle = clock.after(IDLE_MS, stopThread, { ref: false })
  })
  worker.on('error', () => undefined)
  worker.once('exit', () => {
    if (thread !== worker) return
    thread = undefined
    for (const id of [...waiting.keys()])
      settle({ id, code: null, cause: 'the worker thread ended', output: '', errors: '' })
  })
  return worker
}

function stopThread(): void {
  const ended = thread
  thread = undefined
  void ended?.terminate()
}

/** Undefined when nginx would load the configuration. Rejects with `unavailable` when nginx cannot be run. */
export async function testConfiguration(
  settings: Pick<EdgeSettings, 'binary' | 'prefix' | 'clock'>,
  config: string,
  signal?: AbortSignal,
): Promise<Refusal | undefined> {
  const { code, errors } = await runNginx(settings, '-t', config, signal)
  return code === 0 ? undefined : refusalIn(errors)
}

/** The settings of a systemd unit that restrict a test of nginx's configuration. */
const WALLS = ['ProtectSystem', 'ProtectHome', 'ReadWritePaths', 'ReadOnlyPaths', 'InaccessiblePaths', 'PrivateTmp']

/**
 * Like `testConfiguration`, with the restrictions of a systemd unit, including the administrator's changes to the unit. Also
 * undefined if systemd does not run or does not know the unit.
 */
export async function testAsUnit(
  { binary, prefix, clock }: Pick<EdgeSettings, 'binary' | 'prefix' | 'clock'>,
  config: string,
  unit: string,
): Promise<Refusal | undefined> {
  const asked = ['show', unit, ...['LoadState', ...WALLS].map((name) => `--property=${name}`)]
  const shown = await runInThread('systemctl', asked, clock, undefined)
  const properties = shown.output.split('\n').filter((line) => /^\w+=./.test(line))
  if (shown.code !== 0 || !properties.includes('LoadState=loaded')) return undefined
  const walls = properties.filter((line) => !line.startsWith('LoadState=')).flatMap((line) => ['-p', line])
  const test = [binary, '-t', '-q', '-e', 'stderr', ...(prefix === undefined ? [] : ['-p', prefix]), '-c', config]
  const args = ['--quiet', '--wait', '--pipe', '--collect', ...walls, '--', ...test]
  const { code, errors } = await runInThread('systemd-run', args, clock, undefined)
  return code === 0 || !errors.includes('[emerg]') ? undefined : refusalIn(errors, unit)
}
