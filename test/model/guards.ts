import { PLAN_STATES } from '../../src/model/exposure.ts'
import type { JournalEntry, JournalMark } from '../../src/model/run.ts'
import type { CapabilityRecord, PresentedCapability } from '../../src/store/ports/capabilities.ts'
import type { StoreSession } from '../../src/store/ports/store.ts'
import { LEASE_MS, type Removal } from './cluster.ts'
import type { Case } from './histories.ts'

/** A guard of the engine, how the engine behaves without it, and which cases of the enumeration can show that. */
export interface Guard {
  readonly name: string
  readonly without: Removal
  readonly shownBy: (one: Case) => boolean
}

const inFamily =
  (family: Case['family'], at = '') =>
  (one: Case): boolean =>
    one.family === family && one.at.includes(at)

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

const CAPABILITY_GUARDS: readonly Guard[] = [
  { name: 'a capability is marked as used', without: spending('used'), shownBy: inFamily('capability', 'again') },
  { name: 'a capability ends after five minutes', without: spending('expired'), shownBy: inFamily('capability') },
  {
    name: 'a capability is bound to a plan',
    without: unbound('planId', 'digest'),
    shownBy: inFamily('capability', 'otherPlan'),
  },
  { name: 'a capability is bound to a digest', without: unbound('digest'), shownBy: inFamily('capability') },
  { name: 'a capability is bound to an action', without: unbound('action'), shownBy: inFamily('capability') },
  { name: 'a capability is bound to an address', without: unbound('ip'), shownBy: inFamily('capability') },
]

const STATE_GUARDS: readonly Guard[] = [
  {
    name: 'a run begins and ends in one transaction each',
    without: { transaction: (store) => (work) => work(store) },
    shownBy: inFamily('crash', 'in transaction'),
  },
  {
    name: 'a plan moves only from the states that allow it',
    without: { session: (session) => ({ movePlan: (id, _from, to) => session.movePlan(id, PLAN_STATES, to) }) },
    shownBy: inFamily('crash'),
  },
  {
    name: 'a host belongs to one plan',
    without: {
      session: (session) => ({
        insertExposure: async (exposure) => {
          if (await session.insertExposure(exposure)) return true
          const former = await session.findExposure(exposure.host)
          return former !== undefined && session.replaceExposure(former.planId, exposure)
        },
      }),
    },
    shownBy: inFamily('crash'),
  },
  {
    name: 'an exposure that a run has claimed refuses every other run',
    without: {
      session: (session) => ({
        claimExposure: async (host, planId, runId, fence) => {
          const claimant = (await session.findExposure(host))?.runId
          if (claimant !== undefined) await session.passClaims(claimant, undefined)
          return session.claimExposure(host, planId, runId, fence)
        },
      }),
    },
    shownBy: inFamily('crash', 'update proxy after-undo-intent'),
  },
  {
    name: 'a run that has ended gives up its claims',
    without: { session: () => ({ passClaims: async () => undefined }) },
    shownBy: inFamily('crash', 'remove dns after-undo'),
  },
  {
    name: 'a blocked run keeps its claims',
    without: {
      session: (session) => ({
        findExposure: async (host) => {
          const exposure = await session.findExposure(host)
          return exposure?.state === 'blocked' ? { ...exposure, state: 'applied' } : exposure
        },
        finishRun: async (runId, state, at, fence) => {
          if (state === 'blocked') await session.passClaims(runId, undefined)
          return session.finishRun(runId, state, at, fence)
        },
      }),
    },
    shownBy: inFamily('crash', 'update proxy after-undo-intent'),
  },
  {
    name: 'a run ends once, although the answer of its end is lost',
    without: {
      session: (session) => ({
        finishRun: async (...end) => {
          await session.finishRun(...end)
          return true
        },
      }),
    },
    shownBy: inFamily('lost', 'committed'),
  },
]

const LEASE_GUARDS: readonly Guard[] = [
  {
    name: 'a lease that lives is not taken',
    without: { session: (session) => ({ takeLeases: takeAnyLeases(session) }) },
    shownBy: inFamily('slow'),
  },
  {
    name: 'a lease has a higher fence than the one before',
    without: {
      session: (session) => ({
        takeLeases: async (...given) => (await session.takeLeases(...given)).map((lease) => ({ ...lease, fence: 1 })),
      }),
    },
    shownBy: inFamily('crash'),
  },
  {
    name: 'a lease is renewed while its run works',
    without: { session: () => ({ renewLeases: async (leases) => allNames(leases) }) },
    shownBy: inFamily('slow'),
  },
  {
    name: 'a lost lease is not renewed',
    without: {
      session: (session) => ({
        renewLeases: async (leases, now, ttlMs) => {
          await session.renewLeases(leases, now, ttlMs)
          return allNames(leases)
        },
      }),
    },
    shownBy: inFamily('pause', 'dns after-intent'),
  },
  {
    name: 'a lease is released only by its holder',
    without: {
      session: (session) => ({
        releaseLeases: async (leases) => {
          for (const lease of leases) await session.releaseLease((await session.findLease(lease.name, 0)) ?? lease)
        },
      }),
    },
    shownBy: inFamily('three'),
  },
  {
    name: 'a step asks for its lease directly before it acts',
    without: { guard: () => ({ assertHeld: () => undefined, ensureHeld: async () => undefined, leftMs: LEASE_MS }) },
    shownBy: inFamily('pause', 'look at'),
  },
]

const FENCE_GUARDS: readonly Guard[] = [
  {
    name: 'the world refuses an older fence and an old request',
    without: { unfenced: true },
    shownBy: inFamily('pause', 'about to change'),
  },
  {
    name: 'the journal refuses an older fence',
    without: { session: (session) => ({ appendJournal: (entry) => session.appendJournal(entry, ANY_FENCE) }) },
    shownBy: inFamily('pause', 'transaction'),
  },
  {
    name: 'the end of a run refuses an older fence',
    without: {
      session: (session) => ({
        finishRun: (runId, state, at) => session.finishRun(runId, state, at, ANY_FENCE),
        appendJournal: (entry, fence) => session.appendJournal(entry, entry.step === 'run' ? ANY_FENCE : fence),
      }),
    },
    shownBy: inFamily('both', 'before-finish'),
  },
  {
    name: 'only an unfinished run is adopted, and only under a higher fence',
    without: {
      session: (session) => ({
        adoptRun: async (...given) => {
          await session.adoptRun(...given)
          return true
        },
      }),
    },
    shownBy: inFamily('both', 'before-finish'),
  },
]

const JOURNAL_GUARDS: readonly Guard[] = [
  {
    name: 'an intent is written before its effect',
    without: unwritten(({ step, mark }) => mark === 'intent' && step !== 'run'),
    shownBy: inFamily('crash'),
  },
  {
    name: 'the verdict is written before the run ends',
    without: unwritten(({ mark }) => mark === 'verdict'),
    shownBy: inFamily('crash', 'verify after-done'),
  },
  {
    name: 'a removal that turns back writes it down',
    without: unwritten(({ mark }) => mark === 'failed' || mark === 'undo_intent'),
    shownBy: inFamily('crash', 'remove dns after-undo'),
  },
]

const RECOVERY_GUARDS: readonly Guard[] = [
  {
    name: 'recovery leaves the runs of its own process alone',
    without: { recoversOwn: true },
    shownBy: inFamily('slow'),
  },
  { name: 'recovery reads what may have happened', without: unread('intent'), shownBy: inFamily('crash') },
  {
    name: 'recovery goes forward after a verdict',
    without: unread('verdict'),
    shownBy: inFamily('crash', 'verify after-done'),
  },
  {
    name: 'recovery goes on with a removal that turned back',
    without: unread('failed', 'undo_intent'),
    shownBy: inFamily('crash', 'remove dns after-undo'),
  },
]

export const GUARDS: readonly Guard[] = [
  ...CAPABILITY_GUARDS,
  ...STATE_GUARDS,
  ...LEASE_GUARDS,
  ...FENCE_GUARDS,
  ...JOURNAL_GUARDS,
  ...RECOVERY_GUARDS,
]
