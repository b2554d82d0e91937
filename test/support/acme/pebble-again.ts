import type { Daemon } from '../../../lab/daemon.ts'
import { startPebble } from '../../../lab/pebble.ts'
import { statePaths } from '../../../lab/state.ts'
import type { TestLab } from '../lab/lab.ts'
import { until } from '../until.ts'

/** No challenge is skipped and no nonce refused by chance: every order is one line of its log. */
export const STEADY_PEBBLE = { PEBBLE_AUTHZREUSE: '0', PEBBLE_WFE_NONCEREJECT: '0' }

/** Ends the lab's certificate authority as an accident would. */
export async function losePebble(lab: TestLab): Promise<void> {
  process.kill(lab.description.pids.acme ?? 0, 'SIGKILL')
  await until('Pebble is gone', () => lab.description.pids.acme === undefined)
}

/** A new one in its place, which has forgotten everything. Whoever starts it stops it. */
export function startPebbleAgain({ description, state }: TestLab, certificateSeconds: number): Promise<Daemon> {
  const { pebble: folder, ca: rootsFile } = statePaths(state)
  const { hostname: address, port } = new URL(description.acme.directory)
  const api = { address, port: Number(port) }
  const management = { address, port: Number(port) + 1_000 }
  return startPebble({ folder, api, management, dns: description.dns.primary, rootsFile, certificateSeconds })
}
