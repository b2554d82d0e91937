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
      { do: 'accept', by: 'a', host: 'two', thenMs: 5_000 },
    ],
  },
]
