import type { History } from './command.ts'

/** A fault that a history has shown, as short as it gets. It must stay repaired. */
interface Found {
  readonly name: string
  readonly history: History
}

export const FOUND: readonly Found[] = [
  {
    name: 'an accept while the name server is silent leaves the owner mark',
    history: [
      { do: 'apply', by: 'a', host: 'two', thenMs: 2_313 },
      { do: 'nameServer', is: 'down', skewSeconds: 0, wireMs: 2, thenMs: 192 },
      { do: 'accept', by: 'a', host: 'two', thenMs: 20_000 },
    ],
  },
  {
    name: 'a store that is restored from a backup of the time of an apply takes the host off the Secondary',
    history: [
      { do: 'apply', by: 'a', host: 'three', thenMs: 0 },
      { do: 'backup', thenMs: 10 },
      { do: 'restore', keepsFormer: true, thenMs: 25_000 },
    ],
  },
  {
    name: 'a store that is restored from a backup of the time of a removal brings the host back on the Secondary',
    history: [
      { do: 'apply', by: 'a', host: 'two', thenMs: 6_000 },
      { do: 'remove', by: 'a', host: 'two', stop: { after: 6, how: 'crash' }, thenMs: 18_833 },
      { do: 'backup', thenMs: 10 },
      { do: 'apply', by: 'b', host: 'three', thenMs: 885 },
      { do: 'restore', keepsFormer: true, thenMs: 25_000 },
    ],
  },
  {
    name: 'an accept that is undone leaves its released file on the Secondary, which serves the host after its removal',
    history: [
      { do: 'apply', by: 'a', host: 'two', thenMs: 25_009 },
      { do: 'stall', kind: 'queue', ms: 8_007, afterMessages: 0, thenMs: 90 },
      { do: 'accept', by: 'a', host: 'two', thenMs: 24_966 },
      { do: 'remove', by: 'a', host: 'two', thenMs: 6_000 },
    ],
  },
  {
    name: 'the resolve of an apply that was under way in the backup takes its entry and leaves its name',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 21 },
      { do: 'backup', thenMs: 10 },
      { do: 'restore', keepsFormer: false, thenMs: 25_000 },
    ],
  },
]

/** Histories that break a promise without one of the repairs of a stalled name server, a Secondary that was away, or a restore. */
export const REPAIRS: readonly Found[] = [
  {
    name: 'an update that the name server makes after its client has given up leaves no record',
    history: [
      { do: 'stall', kind: 'queue', ms: 13_000, afterMessages: 1, thenMs: 10 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 60_000 },
    ],
  },
  {
    name: 'an update of a process that died leaves no record',
    history: [
      { do: 'stall', kind: 'queue', ms: 40_000, afterMessages: 1, thenMs: 10 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 2_000 },
      { do: 'restart', by: 'a', thenMs: 60_000 },
    ],
  },
  {
    name: 'a host that was updated and removed while the Secondary was away is not served there',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'leave', machine: 'secondary', thenMs: 1_000 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 6_000 },
      { do: 'remove', by: 'a', host: 'one', thenMs: 6_000 },
      { do: 'return', machine: 'secondary', thenMs: 40_000 },
    ],
  },
  {
    name: 'a host that was removed after the backup does not come back on the Secondary',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'backup', thenMs: 10 },
      { do: 'remove', by: 'a', host: 'one', thenMs: 6_000 },
      { do: 'restore', keepsFormer: false, thenMs: 60_000 },
    ],
  },
  {
    name: 'an edit on the Secondary stays when it misses an update',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'edit', machine: 'secondary', host: 'one', thenMs: 1_000 },
      { do: 'leave', machine: 'secondary', thenMs: 8_000 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 8_000 },
      { do: 'return', machine: 'secondary', thenMs: 40_000 },
    ],
  },
  {
    name: 'a former store takes no host off the air, nor its name for a moment',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'backup', thenMs: 10 },
      { do: 'restore', keepsFormer: true, thenMs: 25_000 },
      { do: 'former', asks: 'remove', host: 'one', thenMs: 20_000 },
    ],
  },
]
