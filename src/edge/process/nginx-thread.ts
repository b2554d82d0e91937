import { execFile } from 'node:child_process'
import { parentPort } from 'node:worker_threads'

/** What the thread is asked for. */
export interface RunRequest {
  readonly id: number
  readonly binary: string
  readonly args: readonly string[]
  readonly timeoutMs: number
  readonly maxOutputBytes: number
}

/** `code` is null when the program could not be run to its end; then `cause` names the system's reason, if it gave one. */
export interface RunResult {
  readonly id: number
  readonly code: number | null
  readonly cause?: string | undefined
  readonly output: string
  readonly errors: string
}

/** What nginx needs to be found, to load its libraries and to read its configuration as the running one did. */
const INHERITED_VARIABLES = ['PATH', 'LD_LIBRARY_PATH', 'OPENSSL_CONF', 'TZ']

/** Nothing else: secrets of ours may stand in the environment, and any program or module that nginx loads could read it. */
const environment = Object.fromEntries(
  INHERITED_VARIABLES.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
)

parentPort?.on('message', ({ id, binary, args, timeoutMs, maxOutputBytes }: RunRequest) => {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes, env: environment } as const
  execFile(binary, args, options, (error, output, errors) => {
    const code = error ? (typeof error.code === 'number' ? error.code : null) : 0
    const cause = typeof error?.code === 'string' ? error.code : undefined
    parentPort?.postMessage({ id, code, cause, output, errors } satisfies RunResult)
  })
})
