import { type ChildProcess, spawn } from 'node:child_process'
import { parentPort } from 'node:worker_threads'

export interface RunRequest {
  readonly id: number
  readonly binary: string
  readonly args: readonly string[]
  readonly timeoutMs: number
  readonly maxOutputBytes: number
}

/** Kills the program of the run with this id, if it still runs. The run then ends without a code. */
export interface KillRequest {
  readonly kill: number
}

/** `code` is null when the program did not exit with a code. Then `cause` is the system's error code, if there is one. */
export interface RunResult {
  readonly id: number
  readonly code: number | null
  readonly cause?: string | undefined
  readonly output: string
  readonly errors: string
}

/** The variables that this process needs to find nginx, and that nginx needs for its libraries and its configuration. */
const INHERITED_VARIABLES = ['PATH', 'LD_LIBRARY_PATH', 'OPENSSL_CONF', 'TZ']

/** No other variable is passed: the environment may have secrets, and any module that nginx loads could read them. */
const environment = Object.fromEntries(
  INHERITED_VARIABLES.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
)

const running = new Map<number, ChildProcess>()

parentPort?.on('message', (request: RunRequest | KillRequest) => {
  if ('kill' in request) running.get(request.kill)?.kill('SIGKILL')
  else run(request)
})

/**
 * Runs the program in a session of its own. A command that root starts as the service's user has root's terminal, and other
 * processes of that user may trace this program. Without a terminal it cannot type into root's shell.
 */
function run({ id, binary, args, timeoutMs, maxOutputBytes }: RunRequest): void {
  const child = spawn(binary, args, {
    ...{ timeout: timeoutMs, killSignal: 'SIGKILL', env: environment, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.set(id, child)
  let cause: string | undefined
  const collected = [child.stdout, child.stderr].map((stream) => {
    const text = { value: '' }
    stream.setEncoding('utf8').on('data', (part: string) => {
      text.value = (text.value + part).slice(0, maxOutputBytes)
      if (text.value.length < maxOutputBytes) return
      cause = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
      child.kill('SIGKILL')
    })
    return text
  })
  child.once('error', (error: NodeJS.ErrnoException) => {
    cause = error.code
  })
  child.once('close', (exit) => {
    running.delete(id)
    const [output = '', errors = ''] = collected.map(({ value }) => value)
    const code = cause === undefined ? exit : null
    parentPort?.postMessage({ id, code, cause, output, errors } satisfies RunResult)
  })
}
