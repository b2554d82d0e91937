import { spawn } from 'node:child_process'
import { launcher } from '../../../lab/checkout.ts'

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Starting {
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
}

/** Runs the built program without a terminal. */
export function drawbridge(args: readonly string[], { environment = {}, input = '' }: Starting = {}): Promise<Ended> {
  const child = spawn(launcher(), args, { env: { ...process.env, ...environment } })
  const taken = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    taken.stdout += part
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    taken.stderr += part
  })
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, ...taken }))
  })
}
