import type { Place } from '../lab/addresses.ts'

/** Beside the usual place: a benchmark disturbs no lab that somebody works with. */
export const BENCH_PLACE: Place = {
  network: '127.0.46',
  dnsPorts: { primary: 5346, secondary: 5374 },
  relayPorts: { outside: 8047, inside: 8048 },
}
