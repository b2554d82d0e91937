import type { History } from './command.ts'

/** A fault that a history has shown, as short as it gets. It must stay repaired. */
interface Found {
  readonly name: string
  readonly history: History
}

/** An update that fails while its process sleeps and somebody edits its entry cannot be undone. */
const BLOCKED: History = [
  { do: 'apply', by: 'a', host: 'one', thenMs: 4_000 },
  { do: 'backend', status: 502, thenMs: 10 },
  { do: 'apply', by: 'a', host: 'one', stop: { at: 'update proxy before-undo-intent', how: 'pause' }, thenMs: 6_000 },
  { do: 'edit', machine: 'primary', host: 'one', thenMs: 10 },
  { do: 'wake', by: 'a', thenMs: 6_000 },
  { do: 'backend', status: 200, thenMs: 10 },
]

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
      { do: 'remove', by: 'a', host: 'two', stop: { at: 'remove dns after-intent', how: 'crash' }, thenMs: 18_833 },
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
  {
    name: 'an update overwrites a hand edit on the Secondary',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'edit', machine: 'secondary', host: 'one', thenMs: 1_000 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 8_000 },
    ],
  },
  {
    name: 'a store that is silent after the verdict turns the run back',
    history: [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'edit', machine: 'primary', host: 'one', thenMs: 1_000 },
      {
        ...{ do: 'repair', by: 'a', host: 'one', overwrite: true, thenMs: 8_000 },
        stop: { at: 'write verify verdict', how: 'lost' },
      },
    ],
  },
  {
    name: 'a caller whose run an edge refuses as too old is told no code',
    history: [
      { do: 'wake', by: 'b', thenMs: 1_000 },
      { do: 'apply', by: 'a', host: 'one', stop: { at: 'apply proxy before-swap', how: 'pause' }, thenMs: 50_000 },
      { do: 'wake', by: 'a', thenMs: 6_000 },
    ],
  },
  {
    name: 'a step that hangs past its limit still holds its lease when the same instance recovers its run',
    history: [
      { do: 'stall', kind: 'frozen', ms: 130_000, afterMessages: 1, thenMs: 10 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 150_000 },
    ],
  },
  {
    name: 'a resolve by an instance with a late clock leaves the exposure claimed by a run that has ended',
    history: [
      { do: 'shift', by: 'b', ms: -5_000, thenMs: 1_000 },
      ...BLOCKED,
      { do: 'resolve', by: 'b', host: 'one', how: 'undo', thenMs: 6_000 },
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
  {
    name: 'a former store that still runs does not make an edge forget how to put back what a rolled-back run has changed',
    history: [
      { do: 'apply', by: 'a', host: 'two', thenMs: 21_367 },
      { do: 'backup', thenMs: 10 },
      { do: 'restore', keepsFormer: true, thenMs: 25_000 },
      { do: 'stall', kind: 'queue', ms: 15_710, afterMessages: 0, thenMs: 11_819 },
      { do: 'accept', by: 'a', host: 'two', thenMs: 6_000 },
    ],
  },
  {
    name: 'a blocked run keeps its host until it is resolved',
    history: [...BLOCKED, { do: 'apply', by: 'b', host: 'one', thenMs: 6_000 }],
  },
]
