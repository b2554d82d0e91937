import { type ChildProcess, execFile } from 'node:child_process'
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

/** The variables that nginx needs to be found, to load its libraries and to read its configuration. */
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

function run({ id, binary, args, timeoutMs, maxOutputBytes }: RunRequest): void {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes, env: environment } as const
  const child = execFile(binary, args, options, (error, output, errors) => {
    running.delete(id)
    const code = error ? (typeof error.code === 'number' ? error.code : null) : 0
    const cause = typeof error?.code === 'string' ? error.code : undefined
    parentPort?.postMessage({ id, code, cause, output, errors } satisfies RunResult)
  })
  running.set(id, child)
}
