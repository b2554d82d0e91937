import type { Place } from '../lab/addresses.ts'

/** Not the default place, so that a benchmark does not disturb a running lab. */
export const BENCH_PLACE: Place = {
  network: '127.0.46',
  dnsPorts: { primary: 5346, secondary: 5374 },
  relayPorts: { outside: 8047, inside: 8048 },
}
