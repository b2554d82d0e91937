import { fc } from '../support/fast-check.ts'
import type { StallKind } from './name-server.ts'
import type { Stop } from './process.ts'
import type { Request } from './service.ts'
import { HOSTS, type HostName, type InstanceName } from './world.ts'

export type MachineName = 'primary' | 'secondary'

/** What happens, and how long it is until the next thing happens. A command that makes no sense where it stands does nothing. */
export type Command = { readonly thenMs: number } & (
  | {
      /** An apply of a host that is exposed is an update. A repair overwrites what somebody else wrote if it is told to. */
      readonly do: Request
      readonly by: InstanceName
      readonly host: HostName
      readonly overwrite?: boolean | undefined
      /** What happens to the process meanwhile. */
      readonly stop?: Stop | undefined
      /** The exposure ends by itself. */
      readonly expires?: boolean | undefined
    }
  | { readonly do: 'crash' | 'pause' | 'wake' | 'restart'; readonly by: InstanceName }
  /** The clock of an instance is wrong by this much. */
  | { readonly do: 'shift'; readonly by: InstanceName; readonly ms: number }
  | { readonly do: 'stall'; readonly kind: StallKind; readonly ms: number; readonly afterMessages: number }
  | {
      readonly do: 'nameServer'
      readonly is: 'down' | 'losing answers' | 'well'
      readonly skewSeconds: number
      readonly wireMs: number
    }
  | { readonly do: 'leave' | 'return'; readonly machine: MachineName }
  | { readonly do: 'delay'; readonly machine: MachineName; readonly ms: number }
  | { readonly do: 'reloads'; readonly machine: MachineName; readonly how: 'well' | 'unproven' | 'deaf' }
  | { readonly do: 'stopNginx' | 'startNginx'; readonly machine: MachineName }
  /** The backends answer with this status. */
  | { readonly do: 'backend'; readonly status: number }
  | { readonly do: 'wait' }
)

export type History = readonly Command[]

const word = <Word extends string>(...words: Word[]): fc.Arbitrary<Word> => fc.constantFrom(...words)
const by = word<InstanceName>('a', 'a', 'a', 'b')
const host = word(...HOSTS)
const machine = word<MachineName>('primary', 'secondary', 'secondary')
const stop = fc.option(fc.record({ after: fc.nat(120), how: word('crash', 'crash', 'pause') }), {
  nil: undefined,
  freq: 1,
})
const isSo = (oneIn: number) => fc.nat(oneIn - 1).map((at) => at === 0)
/** Most things happen while the one before is under way. */
const thenMs = fc.oneof(fc.nat(200), fc.nat(3_000), fc.nat(20_000), fc.nat(60_000))
const action = word<Request>('apply', 'apply', 'apply', 'remove', 'remove', 'repair', 'accept')

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: action, by, host, stop, overwrite: isSo(2), expires: isSo(6), thenMs }),
  },
  { weight: 2, arbitrary: fc.record({ do: word('crash', 'pause', 'wake', 'restart'), by, thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('wake', 'restart'), by, thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('shift'), by, ms: fc.integer({ min: -8_000, max: 8_000 }), thenMs }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ do: word('stall'), kind: word('frozen', 'queue', 'queue'), ms: fc.nat(15_000) },
      ...{ afterMessages: fc.nat(12), thenMs: fc.nat(100) },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: word('nameServer'), is: word('down', 'losing answers', 'well'), thenMs },
      skewSeconds: fc.oneof(fc.constant(0), fc.integer({ min: -5, max: 5 })),
      wireMs: fc.constantFrom(2, 100, 400),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: word('leave', 'return'), machine, thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('delay'), machine, ms: fc.nat(4_000), thenMs }) },
  { weight: 2, arbitrary: fc.record({ do: word('reloads'), machine, how: word('well', 'unproven', 'deaf'), thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('stopNginx', 'startNginx'), machine, thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('backend'), status: fc.constantFrom(200, 200, 502), thenMs }) },
  { weight: 2, arbitrary: fc.record({ do: word('wait'), thenMs }) },
)

/** Histories of any commands. */
const anyHistory: fc.Arbitrary<History> = fc.array(command, { minLength: 3, maxLength: 14, size: 'max' })

/** One seed is one history. */
export const historyOf = (seed: number): History => fc.sample(anyHistory, { seed, numRuns: 1 })[0] ?? []
