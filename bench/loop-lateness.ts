import { existsSync, readFileSync, rmSync } from 'node:fs'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../lab/lab.ts'
import { servicePid } from './processes.ts'

const fileOf = ({ state }: Lab): string => join(state, 'loop-lateness.json')

/** The environment that makes the next start of the service measure its event loop. */
export const loopProbe = (lab: Lab): Record<string, string> => ({
  NODE_OPTIONS: `--import=${join(import.meta.dirname, `loop-probe${extname(import.meta.filename)}`)}`,
  LOOP_PROBE_FILE: fileOf(lab),
})

/** How late the event loop of the service was since the last call, one value in milliseconds for every 5 ms. */
export async function takeLateness(lab: Lab): Promise<number[]> {
  const file = fileOf(lab)
  rmSync(file, { force: true })
  process.kill(servicePid(lab.description), 'SIGUSR2')
  while (!existsSync(file)) await sleep(10)
  return JSON.parse(readFileSync(file, 'utf8')) as number[]
}
