import type { JournalEntry, JournalMark } from '../../../src/model/run.ts'
import type { CapabilityRecord, PresentedCapability } from '../../../src/store/ports/capabilities.ts'
import type { StoreSession } from '../../../src/store/ports/store.ts'
import type { Command, History } from '../command.ts'
import type { Removal } from '../stores.ts'

/** A check of the engine and the store, how they behave without it, and a history that breaks a promise then. */
interface Guard {
  readonly name: string
  readonly without: Removal
  readonly history: History
  /** `test/guards` takes the check out of the source, and this history has to break a promise then. */
  readonly isInSource?: true
}

const both: Command = { do: 'wake', by: 'b', thenMs: 1_000 }
const apply = { do: 'apply', by: 'a', host: 'one', thenMs: 6_000 } as const
const remove = { ...apply, do: 'remove' } as const
const bad: Command = { do: 'backend', status: 502, thenMs: 10 }
const good: Command = { do: 'backend', status: 200, thenMs: 10 }
const crashes = (at: string): History => [
  { ...apply, stop: { how: 'crash', at } },
  { do: 'restart', by: 'a', thenMs: 6_000 },
]
/** The name server hangs in the apply, while another instance looks for runs to take over. */
const hangs = (ms: number): History => [
  both,
  { do: 'stall', kind: 'frozen', ms, afterMessages: 1, thenMs: 10 },
  { ...apply, thenMs: ms + 40_000 },
]

const ANY_FENCE = Number.MAX_SAFE_INTEGER

/** Accepts a capability although these members differ from the issued ones. */
function unbound(...members: readonly (keyof PresentedCapability)[]): Removal {
  const issued = new Map<string, CapabilityRecord>()
  return {
    session: (session) => ({
      insertCapability: async (capability) => {
        issued.set(capability.hash, capability)
        await session.insertCapability(capability)
      },
      spendCapability: (presented, now) => {
        const original = issued.get(presented.hash) ?? presented
        const same = members.map((member) => [member, original[member]])
        return session.spendCapability({ ...presented, ...Object.fromEntries(same) }, now)
      },
    }),
  }
}

/** Accepts a capability that the store refuses for this reason. */
const spending = (refused: 'used' | 'expired'): Removal => ({
  session: (session) => ({
    spendCapability: async (presented, now) => {
      const outcome = await session.spendCapability(presented, now)
      return outcome === refused ? 'spent' : outcome
    },
  }),
})

/** Loses journal entries. The engine believes that they were written. */
const unwritten = (isLost: (entry: Omit<JournalEntry, 'seq'>) => boolean): Removal => ({
  session: (session) => ({
    appendJournal: async (entry, fence) => (isLost(entry) ? { ...entry, seq: 0 } : session.appendJournal(entry, fence)),
  }),
})

/** Hides journal entries from recovery. */
const unread = (...marks: readonly JournalMark[]): Removal => ({
  session: (session) => ({
    readJournal: async (runId, afterSeq) =>
      (await session.readJournal(runId, afterSeq)).filter(({ mark }) => !marks.includes(mark)),
  }),
})

/** Takes leases as if they had expired. */
const takeAnyLeases =
  (session: StoreSession): StoreSession['takeLeases'] =>
  async (names, holder, now, ttlMs) => {
    const leases = await session.takeLeases(names, holder, ANY_FENCE, 0)
    await session.renewLeases(leases, now, ttlMs)
    return leases.map((lease) => ({ ...lease, expiresAt: now + ttlMs }))
  }

const allNames = (leases: readonly { readonly name: string }[]): ReadonlySet<string> =>
  new Set(leases.map(({ name }) => name))

export const GUARDS: readonly Guard[] = [
  {
    name: 'a capability is marked as used',
    without: spending('used'),
    history: [bad, apply, good, { ...apply, shows: 'again' }],
  },
  {
    name: 'a capability ends after five minutes',
    without: spending('expired'),
    history: [{ ...apply, shows: 'old', thenMs: 310_000 }],
  },
  {
    name: 'a capability is bound to a plan',
    without: unbound('planId', 'digest'),
    history: [{ ...apply, shows: 'otherPlan' }],
  },
  {
    name: 'a capability is bound to a digest',
    without: unbound('digest'),
    history: [{ ...apply, shows: 'otherDigest' }],
  },
  {
    name: 'a capability is bound to an action',
    without: unbound('action'),
    history: [apply, { ...remove, shows: 'otherAction' }],
  },
  {
    name: 'a capability is bound to an address',
    without: unbound('ip'),
    history: [{ ...apply, shows: 'otherAddress' }],
  },
  {
    name: 'a run begins and ends in one transaction each',
    without: { transaction: (store) => (work) => work(store) },
    history: crashes('in transaction: setExposureReceipt'),
  },
  {
    name: 'a run that has ended gives up its claims',
    without: { session: () => ({ passClaims: async () => undefined }) },
    history: [apply],
  },
  {
    name: 'a run ends once, although the answer of its end is lost',
    isInSource: true,
    without: {
      session: (session) => ({
        finishRun: async (...end) => {
          await session.finishRun(...end)
          return true
        },
      }),
    },
    history: [apply, remove, apply, remove].map((request) => ({ ...request, stop: { how: 'lost', at: 'finishRun' } })),
  },
  {
    name: 'a lease that lives is not taken',
    without: { session: (session) => ({ takeLeases: takeAnyLeases(session) }) },
    history: hangs(20_000),
  },
  {
    name: 'a lease has a higher fence than the one before',
    without: {
      session: (session) => ({
        takeLeases: async (...given) => (await session.takeLeases(...given)).map((lease) => ({ ...lease, fence: 1 })),
      }),
    },
    history: crashes('in transaction: write backup intent'),
  },
  {
    name: 'a lease is renewed while its run works',
    without: { session: () => ({ renewLeases: async (leases) => allNames(leases) }) },
    history: hangs(50_000),
  },
  {
    name: 'the journal refuses an older fence',
    without: { session: (session) => ({ appendJournal: (entry) => session.appendJournal(entry, ANY_FENCE) }) },
    history: [
      both,
      { ...apply, stop: { how: 'pause', at: 'apply verify after-effect' }, thenMs: 50_000 },
      { do: 'wake', by: 'a', thenMs: 20_000 },
    ],
  },
  {
    name: 'an intent is written before its effect',
    without: unwritten(({ step, mark }) => mark === 'intent' && step !== 'run'),
    history: [
      both,
      apply,
      { do: 'stall', kind: 'queue', ms: 8_007, afterMessages: 0, thenMs: 90 },
      { ...apply, do: 'accept', stop: { at: 'accept proxy after-undo-intent', how: 'crash' }, thenMs: 25_000 },
      { do: 'restart', by: 'a', thenMs: 6_000 },
    ],
  },
  {
    name: 'the verdict is written before the run ends',
    without: unwritten(({ mark }) => mark === 'verdict'),
    history: crashes('apply verify after-done'),
  },
  {
    name: 'recovery leaves the runs of its own process alone',
    without: { recoversOwn: true },
    history: hangs(20_000),
  },
  {
    name: 'recovery reads what may have happened',
    without: unread('intent'),
    history: crashes('apply dns after-intent'),
  },
  {
    name: 'recovery goes forward after a verdict',
    without: unread('verdict'),
    history: crashes('apply verify after-done'),
  },
  {
    name: 'the end of a renewal is booked with its hosts',
    without: { session: () => ({ setExposureReceipts: async () => undefined }) },
    history: [
      { ...apply, tls: true },
      { ...apply, host: 'two', tls: true },
      { do: 'due', thenMs: 10 },
      { do: 'renew', by: 'a', thenMs: 6_000 },
    ],
  },
]
