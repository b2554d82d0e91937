import { spawn } from 'node:child_process'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LabDescription } from '../lab/description.ts'

const RATE = 40
const POLL_MS = 20

export interface Visits {
  readonly ms: readonly number[]
  readonly failed: number
}

export interface Neighbour {
  /** The visits that begin while `work` runs. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; visits: Visits }>
  stop(): Promise<void>
}

/** Visits a host through the Primary edge, in a process of its own, so that a busy benchmark does not slow the visits down. */
export function startNeighbour({ edges: { primary } }: LabDescription, host: string): Neighbour {
  const program = join(import.meta.dirname, `neighbour-program${extname(import.meta.filename)}`)
  const args = [program, primary.address, String(primary.https), host, String(RATE)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const begun: number[] = []
  const visits: { at: number; ms: number; ok: boolean }[] = []
  createInterface(child.stdout).on('line', (line) => {
    const [at = '', ms, ok] = line.split(' ')
    if (ms === undefined) begun.push(Number(at))
    else visits.push({ at: Number(at), ms: Number(ms), ok: ok === '1' })
  })
  return {
    async during(work) {
      const from = Date.now()
      const result = await work()
      const to = Date.now()
      const isWithin = (at: number) => at >= from && at <= to
      const answered = () => visits.filter(({ at }) => isWithin(at))
      // The slowest visits must not be missing. Each has a time limit of its own.
      while (answered().length < begun.filter(isWithin).length) await sleep(POLL_MS)
      const seen = answered()
      return { result, visits: { ms: seen.map(({ ms }) => ms), failed: seen.filter(({ ok }) => !ok).length } }
    },
    async stop() {
      child.kill()
      await exited
    },
  }
}
