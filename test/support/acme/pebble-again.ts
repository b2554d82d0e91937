import type { Daemon } from '../../../lab/daemon.ts'
import { startPebble } from '../../../lab/pebble.ts'
import { statePaths } from '../../../lab/state.ts'
import type { TestLab } from '../lab/lab.ts'
import { until } from '../until.ts'

/** Pebble skips no challenge and refuses no nonce at random, so that every order is one line in its log. */
export const STEADY_PEBBLE = { PEBBLE_AUTHZREUSE: '0', PEBBLE_WFE_NONCEREJECT: '0' }

/** Kills the certificate authority of the lab. */
export async function losePebble(lab: TestLab): Promise<void> {
  process.kill(lab.description.pids.acme ?? 0, 'SIGKILL')
  await until('Pebble is gone', () => lab.description.pids.acme === undefined)
}

/** Starts a new certificate authority without any state. The caller must stop it. */
export function startPebbleAgain({ description, state }: TestLab, certificateSeconds: number): Promise<Daemon> {
  const { pebble: folder, ca: rootsFile } = statePaths(state)
  const { hostname: address, port } = new URL(description.acme.directory)
  const api = { address, port: Number(port) }
  const management = { address, port: Number(port) + 1_000 }
  return startPebble({ folder, api, management, dns: description.dns.primary, rootsFile, certificateSeconds })
}
