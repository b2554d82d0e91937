import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import { call } from '../http/call.ts'
import { exitOnTermination } from '../worker-end.ts'
import { run, world } from './exposure.ts'
import { startTestLab, startWithAgents, type TestLab } from './lab.ts'
import { withStore } from './lab-store.ts'

/**
 * `local`: the service changes the edges itself. `agents`: an agent per edge does, over its unix socket. `mortal`: as `local`, and a
 * borrower may kill the service or start it with another configuration; the next one gets it with the usual configuration.
 */
type Kind = 'local' | 'agents' | 'mortal'

interface Shared {
  readonly lab: TestLab
  /** The processes of the lab before the first borrower. */
  readonly pids: Readonly<Record<string, number | undefined>>
  /** Zone and edges before the first borrower. */
  readonly pristine: string
  /** The files that borrowed it, in order. A red test prints them. */
  readonly borrowers: string[]
}

/** The labs of this worker. Modules may be loaded again for each file, so they are kept at the process. */
const KEY = Symbol.for('drawbridge.shared-labs')
const holder = globalThis as { [KEY]?: Map<Kind, Shared> }
holder[KEY] ??= new Map()
const labs = holder[KEY]

/** The last number of the first borrower's address. Those below belong to servers, relays and tests. */
const FIRST_CALLER = 100
const CALLERS = 150

/**
 * The lab that all files of this worker share, one file after the other. A borrower has addresses of its own, and so its own
 * rate limits. It changes no configuration of the lab, kills none of its processes, and takes back what it did by hand;
 * `stop` removes its exposures. A lab that differs afterwards is not lent again.
 */
export async function borrowLab(kind: Kind = 'local'): Promise<TestLab> {
  const shared = await sharedLab(kind)
  const { lab, borrowers } = shared
  const lent = lab.description.pids.service
  const { api, callers: ofLab, edges } = lab.description
  const network = edges.primary.address.split('.').slice(0, 3).join('.')
  const number = borrowers.length % CALLERS
  borrowers.push(expect.getState().testPath ?? 'unknown')
  const callers = {
    internal: `${network}.${FIRST_CALLER + number}`,
    public: ofLab.public.replace(/\d+$/, String(FIRST_CALLER + number)),
  }
  const addresses: Readonly<Record<string, string>> = callers
  const borrowed: TestLab = {
    ...lab,
    get description() {
      return { ...lab.description, callers }
    },
    call: ({ from = 'internal', ...request }) => call(api, { ...request, from: addresses[from] ?? from }),
    stop: () => handBack(kind, shared, borrowed, lent),
    borrowedAt: Date.now(),
  }
  return borrowed
}

/** The files that used the shared labs of this worker so far. */
export const borrowersSoFar = (): readonly string[] => [...labs.values()].flatMap(({ borrowers }) => borrowers)

const START: Readonly<Record<Kind, () => Promise<TestLab>>> = {
  local: () => startTestLab(),
  agents: async () => (await startWithAgents()).lab,
  mortal: () => startTestLab({ deathsAllowed: Number.POSITIVE_INFINITY }),
}

async function sharedLab(kind: Kind): Promise<Shared> {
  const present = labs.get(kind)
  if (present) return present
  exitOnTermination()
  const lab = await START[kind]()
  const shared = {
    lab,
    pids: lab.description.pids,
    pristine: JSON.stringify(await world(lab)),
    borrowers: [],
  }
  labs.set(kind, shared)
  return shared
}

async function handBack(
  kind: Kind,
  { lab, pids, pristine }: Shared,
  borrowed: TestLab,
  lent: number | undefined,
): Promise<void> {
  const isMortal = kind === 'mortal'
  const tidy = async () => {
    // The borrower may have left another configuration, no service, or one that is to die at a point.
    lab.setNextServiceEnvironment({})
    const isAsLent = lab.description.pids.service === lent && existsSync(`/proc/${lent}`)
    if (isMortal && !isAsLent) await lab.restartService((config) => config)
    return tidied(borrowed)
  }
  const isIntact = await tidy().catch(() => false)
  const areSame = Object.entries(lab.description.pids).every(
    ([name, pid]) => (isMortal && name === 'service') || pids[name] === pid,
  )
  const isAll = Object.keys(pids).length === Object.keys(lab.description.pids).length
  if (isIntact && areSame && isAll && JSON.stringify(await world(lab)) === pristine) return
  labs.delete(kind)
  await lab.stop()
}

/** Removes what is exposed. False: something cannot be removed. */
async function tidied(lab: TestLab): Promise<boolean> {
  const exposures = await withStore(lab, (store) => Array.fromAsync(eachExposure(store)))
  for (const { planId } of exposures) if ((await run(lab, planId, 'remove')).status !== 200) return false
  return true
}
