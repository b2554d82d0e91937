import type { Command, History } from '../command.ts'
import type { Stop } from '../process.ts'
import { pointsOf } from '../search.ts'
import type { Template } from '../stores.ts'

/** A request that has trouble at each of its points, and what happened before. */
interface Subject {
  readonly given: History
  readonly command: Extract<Command, { stop?: Stop | undefined }>
}

/** One request, the trouble that it has at one point, and what happens then. */
export interface Case {
  readonly how: Stop['how']
  readonly at: string
  readonly history: History
}

/** The other instance is there from the beginning. */
const both: Command = { do: 'wake', by: 'b', thenMs: 1_000 }
const of = { by: 'a', host: 'one' } as const
const apply = { do: 'apply', ...of, thenMs: 4_000 } as const
const applied: History = [both, apply]
const bad: Command = { do: 'backend', status: 502, thenMs: 10 }
const good: Command = { do: 'backend', status: 200, thenMs: 10 }
const stalls: Command = { do: 'stall', kind: 'queue', ms: 8_007, afterMessages: 0, thenMs: 90 }
const edited: Command = { do: 'edit', machine: 'primary', host: 'one', thenMs: 10 }
/** An update that fails while its process sleeps and somebody edits its entry cannot be undone. */
const blocked: History = [
  ...applied,
  bad,
  { ...apply, stop: { at: 'update proxy before-undo-intent', how: 'pause' }, thenMs: 6_000 },
  edited,
  { do: 'wake', by: 'a', thenMs: 6_000 },
  good,
]

/** Two hosts with one certificate, which is due. */
const secured: History = [
  both,
  { ...apply, tls: true },
  { ...apply, host: 'two', tls: true },
  { do: 'due', thenMs: 10 },
]

/** Each kind of run: one that succeeds, and one that turns back. */
const SUBJECTS: readonly Subject[] = [
  { given: [both], command: apply },
  { given: [both, bad], command: apply },
  { given: applied, command: apply },
  { given: [...applied, bad], command: apply },
  { given: applied, command: { ...apply, do: 'remove' } },
  {
    given: [...applied, { do: 'reloads', machine: 'primary', how: 'unproven', thenMs: 10 }],
    command: { ...apply, do: 'remove' },
  },
  { given: [...applied, edited], command: { ...apply, do: 'repair', overwrite: true } },
  { given: [...applied, edited, bad], command: { ...apply, do: 'repair', overwrite: true } },
  { given: applied, command: { ...apply, do: 'accept' } },
  { given: [...applied, stalls], command: { ...apply, do: 'accept', thenMs: 25_000 } },
  { given: blocked, command: { do: 'resolve', ...of, how: 'undo', thenMs: 4_000 } },
  { given: blocked, command: { do: 'resolve', ...of, how: 'accept', thenMs: 4_000 } },
  { given: secured, command: { do: 'renew', by: 'a', thenMs: 6_000 } },
  {
    given: [...secured, { do: 'reloads', machine: 'primary', how: 'unproven', thenMs: 10 }],
    command: { do: 'renew', by: 'a', thenMs: 6_000 },
  },
]

const lease: Command = { do: 'wait', thenMs: 45_000 }
const other = { ...apply, by: 'b', thenMs: 6_000 } as const
const wake: Command = { do: 'wake', by: 'a', thenMs: 6_000 }
const restart: Command = { do: 'restart', by: 'a', thenMs: 6_000 }

/** What happens after the trouble. */
const AFTERMATHS: Readonly<Record<Stop['how'], readonly History[]>> = {
  crash: [[restart], [lease, other], [lease, { ...other, do: 'remove' }], [other, restart]],
  pause: [
    [lease, wake],
    [other, wake],
    [lease, other, wake],
    [lease, { ...other, do: 'remove' }, wake],
  ],
  outage: [[], [restart]],
  lost: [[], [restart]],
}

/** What the loops of a service ask a store, whether or not a run is under way. */
const IS_OF_LOOPS =
  /exposuresDue|storeId|epoch|unfinishedRuns|eventHead|listExposures|findPlan|unsettledRunIds|findExposure$/

/** All cases of the enumeration: at each point of each subject that has a name of its own. */
export async function allCases(template: Template): Promise<readonly Case[]> {
  const cases: Case[] = []
  for (const { given, command } of SUBJECTS) {
    const points = new Set(await pointsOf([...given, command], 'a', template))
    for (const at of points)
      for (const how of Object.keys(AFTERMATHS) as Stop['how'][]) {
        if (!isPossible(how, at)) continue
        const first: Command = { ...command, stop: { at, how } }
        for (const then of AFTERMATHS[how]) cases.push({ how, at, history: [...given, first, ...then, good] })
      }
  }
  return cases
}

function isPossible(how: Stop['how'], at: string): boolean {
  if (IS_OF_LOOPS.test(at)) return false
  if (at.startsWith('in transaction')) return how === 'crash'
  if (how === 'outage') return at.startsWith('store ')
  if (how === 'lost') return at.startsWith('stored: ')
  return true
}

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
