import type { Place } from '../lab/addresses.ts'
import { freePort } from '../lab/free-port.ts'

/** A place of this process alone: neither a running lab nor a test nor another benchmark uses it. */
export const BENCH_PLACE: Place = {
  network: `127.250.${1 + (process.pid % 250)}`,
  dnsPorts: { primary: await freePort(), secondary: await freePort() },
  relayPorts: { outside: await freePort(), inside: await freePort() },
}
