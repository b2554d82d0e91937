import { execFile } from 'node:child_process'
import { parentPort } from 'node:worker_threads'

/** What the thread is asked for. */
export interface ProgramQuestion {
  readonly id: number
  readonly binary: string
  readonly args: readonly string[]
  readonly patienceMs: number
  readonly mostOutput: number
}

/** `code` is null when the program could not be run to its end; then `cause` names the system's reason, if it gave one. */
export interface ProgramAnswer {
  readonly id: number
  readonly code: number | null
  readonly cause?: string | undefined
  readonly output: string
  readonly errors: string
}

parentPort?.on('message', ({ id, binary, args, patienceMs, mostOutput }: ProgramQuestion) => {
  const limits = { timeout: patienceMs, killSignal: 'SIGKILL', maxBuffer: mostOutput } as const
  execFile(binary, args, limits, (error, output, errors) => {
    const code = error ? (typeof error.code === 'number' ? error.code : null) : 0
    const cause = typeof error?.code === 'string' ? error.code : undefined
    parentPort?.postMessage({ id, code, cause, output, errors } satisfies ProgramAnswer)
  })
})
