import type { Resolution } from '../../src/runs/engine/resolve.ts'
import { fc } from '../support/fast-check.ts'
import type { StallKind } from './name-server.ts'
import type { Stop } from './process.ts'
import { CREDENTIALS, type CredentialKind, type Request } from './service.ts'
import { type FormerRequest, HOSTS, type HostName, type InstanceName } from './world.ts'

export type MachineName = 'primary' | 'secondary'

/** What happens, and how long it is until the next thing happens. A command that makes no sense where it stands does nothing. */
export type Command = { readonly thenMs: number } & (
  | {
      /** An apply of a host that is exposed is an update. A repair overwrites what somebody else wrote if it is told to. */
      readonly do: Request
      readonly by: InstanceName
      readonly host: HostName
      readonly overwrite?: boolean | undefined
      /** A capability of its own if it does not say. */
      readonly shows?: CredentialKind | undefined
      /** What happens to the process meanwhile. */
      readonly stop?: Stop | undefined
      /** The exposure ends by itself. */
      readonly expires?: boolean | undefined
      /** With the certificate of the authority. */
      readonly tls?: boolean | undefined
    }
  /** The authority wants its certificate to be replaced. */
  | { readonly do: 'due' }
  /** An instance looks at all certificates. */
  | { readonly do: 'renew'; readonly by: InstanceName; readonly stop?: Stop | undefined }
  /** A person ends a blocked run. */
  | {
      readonly do: 'resolve'
      readonly by: InstanceName
      readonly host: HostName
      readonly how: Resolution
      readonly stop?: Stop | undefined
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
  /** Somebody gives a host another backend on an edge. */
  | { readonly do: 'edit'; readonly machine: MachineName; readonly host: HostName }
  /** The backends answer with this status. */
  | { readonly do: 'backend'; readonly status: number }
  | { readonly do: 'backup' }
  /** The backup is restored into a new store, when no run is under way. The processes on the former one may go on. */
  | { readonly do: 'restore'; readonly keepsFormer: boolean }
  /** Somebody asks a process on the former store, if one goes on. */
  | { readonly do: 'former'; readonly asks: FormerRequest; readonly host: HostName }
  | { readonly do: 'wait' }
)

export type History = readonly Command[]

const word = <Word extends string>(...words: Word[]): fc.Arbitrary<Word> => fc.constantFrom(...words)
const by = word<InstanceName>('a', 'a', 'a', 'b')
const host = word(...HOSTS)
const machine = word<MachineName>('primary', 'secondary', 'secondary')
const anyStop = fc.record({
  ...{ after: fc.nat(240), how: word<Stop['how']>('crash', 'crash', 'crash', 'pause', 'pause', 'outage', 'lost') },
})
const isSo = (oneIn: number) => fc.nat(oneIn - 1).map((at) => at === 0)
/** Most things happen while the one before is under way. */
const thenMs = fc.oneof(fc.nat(200), fc.nat(3_000), fc.nat(20_000), fc.nat(60_000))
const seconds = (least: number, most: number) => fc.integer({ min: least * 1_000, max: most * 1_000 })
const action = word<Request>('apply', 'apply', 'apply', 'remove', 'remove', 'repair', 'accept')

const request = (more: { readonly [K in 'thenMs' | 'stop' | 'host' | 'by']?: fc.Arbitrary<never> | unknown } = {}) =>
  fc.record({
    ...{ do: action, by, host, overwrite: isSo(2), expires: isSo(6), thenMs },
    stop: fc.option(anyStop, { nil: undefined, freq: 1 }),
    shows: fc.option(word(...CREDENTIALS), { nil: undefined, freq: 12 }),
    ...(more as object),
  }) as fc.Arbitrary<Command>

const stall = fc.record({
  ...{
    do: word('stall'),
    kind: word<StallKind>('frozen', 'queue', 'queue'),
    ms: fc.oneof(fc.nat(15_000), seconds(8, 20)),
  },
  ...{ afterMessages: fc.oneof(fc.nat(3), fc.nat(14)), thenMs: fc.nat(100) },
})

const one: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: request() },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ do: word('resolve'), by, host, how: word<Resolution>('undo', 'undo', 'accept', 'repair', 'remove'), thenMs },
      stop: fc.option(anyStop, { nil: undefined, freq: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: word('crash', 'pause', 'wake', 'restart'), by, thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('shift'), by, ms: fc.integer({ min: -8_000, max: 8_000 }), thenMs }) },
  { weight: 2, arbitrary: stall },
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
  { weight: 1, arbitrary: fc.record({ do: word('edit'), machine, host, thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('backend'), status: fc.constantFrom(200, 200, 502), thenMs }) },
  { weight: 1, arbitrary: fc.record({ do: word('wait'), thenMs }) },
)

/** Commands that mean most one after the other. */
const scene: fc.Arbitrary<History> = fc.oneof(
  { weight: 8, arbitrary: one.map((command) => [command]) },
  { weight: 3, arbitrary: fc.tuple(stall, request({ thenMs: seconds(10, 40) })) },
  // A process dies or stops in a run, and comes back or goes on after its lease.
  {
    weight: 2,
    arbitrary: fc
      .record({ host, stop: anyStop, ms: seconds(1, 45), do: action })
      .map(({ ms, stop, ...asked }): History => {
        const back: Command = { do: stop.how === 'pause' ? 'wake' : 'restart', by: 'a', thenMs: 3_000 }
        return [{ ...asked, by: 'a', stop, thenMs: ms }, back]
      }),
  },
  // The Secondary misses several changes of one host.
  {
    weight: 3,
    arbitrary: fc
      .record({ host, asked: fc.array(action, { minLength: 1, maxLength: 3 }), ms: seconds(5, 40) })
      .map(
        ({ host: name, asked, ms }): History => [
          { do: 'apply', by: 'a', host: name, thenMs: 5_000 },
          { do: 'leave', machine: 'secondary', thenMs: 1_000 },
          ...asked.map((action): Command => ({ do: action, by: 'a', host: name, thenMs: 6_000 })),
          { do: 'return', machine: 'secondary', thenMs: ms },
        ],
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        since: fc.array(request(), { minLength: 1, maxLength: 4 }),
        former: fc.option(word<FormerRequest>('remove', 'remove', 'repair', 'accept'), { nil: undefined }),
        host,
      })
      .map(
        ({ since, former, host: name }): History => [
          { do: 'backup', thenMs: 10 },
          ...since,
          { do: 'restore', keepsFormer: former !== undefined, thenMs: 25_000 },
          ...(former ? [{ do: 'former', asks: former, host: name, thenMs: 10_000 } as const] : []),
        ],
      ),
  },
)

/** Histories of any commands. */
const anyHistory: fc.Arbitrary<History> = fc
  .array(scene, { minLength: 2, maxLength: 8, size: 'max' })
  .map((scenes) => scenes.flat())

/** One seed is one history. */
export const historyOf = (seed: number): History => fc.sample(anyHistory, { seed, numRuns: 1 })[0] ?? []
