import { fc } from '../support/fast-check.ts'
import { type Command, CREDENTIALS, type History, type InstanceName, PLANS } from './command.ts'
import type { Stop, Trouble } from './schedule.ts'

/**
 * One history of the enumeration, and where it belongs: by the trouble of the first instance, and the point at which that
 * comes. `capability`: requests with every kind of capability. `both`: both instances are paused. `three`: two processes take
 * over one after the other.
 */
export interface Case {
  readonly family: Trouble | 'capability' | 'both' | 'three'
  readonly at: string
  readonly history: History
}

type Stoppable = Extract<Command, { readonly stop?: Stop | undefined }>

/** The operation that has trouble at each of its points, and what happened before. */
interface Subject {
  readonly given: History
  readonly command: Stoppable
}

const apply: Stoppable = { do: 'apply', by: 'a', plan: 'one' }
const update: Stoppable = { do: 'apply', by: 'a', plan: 'oneB' }
const remove: Stoppable = { do: 'remove', by: 'a', plan: 'one' }
const repair: Stoppable = { do: 'repair', by: 'a', plan: 'one', overwrite: true }
const accept: Stoppable = { do: 'accept', by: 'a', plan: 'one' }
const renew: Stoppable = { do: 'renew', by: 'a', plan: 'one' }
const resolve: Stoppable = { do: 'resolve', by: 'a', plan: 'one' }
const recover: Stoppable = { do: 'recover', by: 'a' }
const applied: History = [{ do: 'apply', by: 'b', plan: 'one' }]
const damaged: History = [...applied, { do: 'take', part: 'entry' }, { do: 'edit', part: 'record' }]
const shared: History = [...applied, { do: 'apply', by: 'b', plan: 'side' }]
const turnsBack = (step: 'verify' | 'proxy' | 'dns'): Command => ({ do: 'break', step, how: 'half' })
const cannotUndo = (step: 'proxy' | 'dns'): Command => ({ do: 'break', step, how: 'undo' })
const mend: Command = { do: 'mend' }
const moment: Command = { do: 'wait', how: 'moment' }
const lease: Command = { do: 'wait', how: 'lease' }
const wake: Stoppable = { do: 'wake', by: 'a' }

/** Each action: one that succeeds, one that turns back, and one that ends blocked. */
const SUBJECTS: readonly Subject[] = [
  { given: [], command: apply },
  { given: [turnsBack('verify')], command: apply },
  { given: [turnsBack('verify'), cannotUndo('proxy')], command: apply },
  { given: applied, command: update },
  { given: [...applied, turnsBack('verify')], command: update },
  { given: [...applied, turnsBack('verify'), cannotUndo('proxy')], command: update },
  { given: applied, command: remove },
  { given: [...applied, turnsBack('proxy')], command: remove },
  { given: [...applied, turnsBack('proxy'), cannotUndo('dns')], command: remove },
  { given: damaged, command: repair },
  { given: [...damaged, turnsBack('verify')], command: repair },
  { given: [...damaged, turnsBack('verify'), cannotUndo('proxy')], command: repair },
  { given: applied, command: accept },
  { given: [...applied, turnsBack('dns')], command: accept },
  { given: [...applied, turnsBack('dns'), cannotUndo('proxy')], command: accept },
  { given: shared, command: renew },
  { given: [...shared, turnsBack('verify')], command: renew },
  { given: [...shared, turnsBack('verify'), cannotUndo('proxy')], command: renew },
  { given: [turnsBack('verify'), cannotUndo('proxy'), apply, mend], command: resolve },
  { given: [turnsBack('verify'), cannotUndo('proxy'), apply, mend], command: { ...resolve, accepts: true } },
  { given: [...shared, turnsBack('verify'), cannotUndo('proxy'), renew, mend], command: resolve },
  { given: [{ ...apply, by: 'b', stop: { at: 'apply dns after-effect', how: 'crash' } }, lease], command: recover },
  {
    given: [...applied, { ...remove, by: 'b', stop: { at: 'remove dns after-done', how: 'crash' } }, lease],
    command: recover,
  },
  {
    given: [...shared, { ...renew, by: 'b', stop: { at: 'renew proxy after-effect', how: 'crash' } }, lease],
    command: recover,
  },
]

/** What the other instance does. */
const OTHERS: readonly Command[] = [
  { do: 'recover', by: 'b' },
  { do: 'apply', by: 'b', plan: 'two' },
  { do: 'apply', by: 'b', plan: 'one', shows: 'again' },
  { do: 'remove', by: 'b', plan: 'one' },
  { do: 'apply', by: 'b', plan: 'oneB' },
  { do: 'repair', by: 'b', plan: 'one' },
  { do: 'renew', by: 'b', plan: 'one' },
  { do: 'remove', by: 'b', plan: 'side' },
  { do: 'resolve', by: 'b', plan: 'one' },
]

/** What happens after the trouble. */
const AFTERMATHS: Readonly<Record<Trouble, readonly History[]>> = {
  crash: [[{ do: 'restart', by: 'a' }], [{ do: 'recover', by: 'b' }], ...OTHERS.map((other) => [lease, other])],
  pause: [
    [lease, wake],
    [lease, { ...wake, timersFirst: true }],
    [lease, { do: 'recover', by: 'b' }, { ...wake, timersFirst: true }],
    ...OTHERS.flatMap((other) => [
      [other, wake],
      [lease, other, wake],
    ]),
  ],
  slow: [
    [lease, { do: 'recover', by: 'b' }, wake],
    [moment, { do: 'recover', by: 'a' }, wake],
    [moment, { do: 'apply', by: 'a', plan: 'two' }, wake],
    [{ do: 'wait', how: 'dnsStep' }, { do: 'recover', by: 'b' }, wake],
    [{ do: 'wait', how: 'proxyStep' }, { do: 'recover', by: 'b' }, wake],
  ],
  outage: [[], [moment, { do: 'recover', by: 'a' }], [lease, { do: 'recover', by: 'b' }]],
  lost: [[], [moment, { do: 'recover', by: 'a' }], [lease, { do: 'recover', by: 'b' }]],
}

/** The points that the last operation of a history passes. */
type PointsOf = (history: History) => Promise<readonly string[]>

/** All cases of the enumeration. */
export async function allCases(pointsOf: PointsOf): Promise<readonly Case[]> {
  const cases = [...capabilityCases(), ...threeCases()]
  for (const subject of SUBJECTS) {
    const points = await pointsOf([...subject.given, subject.command])
    for (const [after, at] of points.entries()) cases.push(...casesAt(subject, after, at))
  }
  return cases
}

/** The request is the first, one for an applied plan, one after a run that was undone, and one after a removal. */
const capabilityCases = (): Case[] =>
  CREDENTIALS.flatMap((shows) => {
    const request: Command = { ...apply, shows }
    const histories: History[] = [
      [request],
      [...applied, { ...remove, shows }],
      [turnsBack('verify'), apply, mend, request],
      [...applied, remove, request],
    ]
    return histories.map((history): Case => ({ family: 'capability', at: shows, history }))
  })

/** A crash inside a transaction rolls it back. Other trouble comes before or after a transaction. */
function casesAt({ given, command }: Subject, after: number, at: string): Case[] {
  const isInside = at.includes('in transaction')
  const troubles = (Object.keys(AFTERMATHS) as Trouble[]).filter((how) => how === 'crash' || !isInside)
  const withOne = troubles.flatMap((how) =>
    AFTERMATHS[how].map((then): Case => {
      const history = [...given, { ...command, stop: { after, how } }, ...then]
      return { family: how, at, history }
    }),
  )
  return isInside ? withOne : [...withOne, ...bothPaused(at, [...given, { ...command, stop: { after, how: 'pause' } }])]
}

/** The other instance takes over and is paused as well, at one of its first points, while the first one continues. */
const bothPaused = (at: string, history: History): Case[] =>
  [1, 2, 3, 4, 6, 8, 12].map((after): Case => {
    const takeover: Command = { do: 'recover', by: 'b', stop: { after, how: 'pause' } }
    return { family: 'both', at, history: [...history, lease, takeover, wake, { do: 'wake', by: 'b' }] }
  })

/** A recovery is paused before it adopts the run, another one adopts the run and is slow, and the first one continues. */
const threeCases = (): Case[] =>
  [2, 3].flatMap((paused) =>
    Array.from({ length: 16 }, (_, slow): Case => {
      const history: History = [
        { ...apply, stop: { at: 'apply dns after-done', how: 'crash' } },
        lease,
        { do: 'recover', by: 'b', stop: { after: paused, how: 'pause' } },
        lease,
        { do: 'restart', by: 'a', stop: { after: slow + 4, how: 'slow' } },
        { do: 'wake', by: 'b' },
        { do: 'recover', by: 'b' },
        wake,
      ]
      return { family: 'three', at: `${paused}, ${slow}`, history }
    }),
  )

/** Some of the cases, chosen by the seed. */
export const sample = (cases: readonly Case[], count: number, seed: number): readonly Case[] =>
  cases
    .map((one, i) => ({ one, rank: scatter(i, seed) }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ one }) => one)

/** A number that depends on both numbers and shows no order. */
function scatter(i: number, seed: number): number {
  const mixed = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)
  const again = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return (again ^ (again >>> 16)) >>> 0
}

const by = fc.constantFrom<InstanceName>('a', 'b')
const plan = fc.constantFrom(...PLANS)
const word = <Word extends string>(...words: Word[]): fc.Arbitrary<Word> => fc.constantFrom(...words)
const trouble = word('pause', 'pause', 'pause', 'crash', 'crash', 'slow', 'outage', 'lost')
const stop = fc.option(fc.record({ after: fc.nat(70), how: trouble }), { nil: undefined, freq: 2 })
const shows = fc.option(fc.constantFrom(...CREDENTIALS), { nil: undefined, freq: 8 })
const step = word('check', 'proxy', 'dns', 'verify')
const action = word('apply', 'apply', 'apply', 'remove', 'repair', 'accept', 'renew')

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: action, by, plan, shows, stop, overwrite: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: word('recover'), by, stop }) },
  { weight: 2, arbitrary: fc.record({ do: word('resolve'), by, plan, stop, accepts: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: word('restart'), by, stop }) },
  { weight: 5, arbitrary: fc.record({ do: word('wake'), by, stop, timersFirst: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: word('wait'), how: word('moment', 'lease', 'lease', 'capability') }) },
  { weight: 3, arbitrary: fc.record({ do: word('break'), step, how: word('refused', 'half', 'transient', 'undo') }) },
  { weight: 1, arbitrary: fc.record({ do: word('mend') }) },
  { weight: 1, arbitrary: fc.record({ do: word('edit', 'take'), part: word('entry', 'record') }) },
)

/** Histories of any commands. A command that makes no sense where it stands does nothing. */
export const anyHistory: fc.Arbitrary<History> = fc.array(command, { minLength: 2, maxLength: 12 })
