import { expect } from 'vitest'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import { call } from '../http/call.ts'
import { run, world } from './exposure.ts'
import { startTestLab, startWithAgents, type TestLab } from './lab.ts'
import { withStore } from './lab-store.ts'

/** `local`: the service changes the edges itself. `agents`: an agent per edge does, over its unix socket. */
type Kind = 'local' | 'agents'

interface Shared {
  readonly lab: TestLab
  readonly servicePid: number | undefined
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
    stop: () => handBack(kind, shared, borrowed),
    borrowedAt: Date.now(),
  }
  return borrowed
}

/** The files that used the shared labs of this worker so far. */
export const borrowersSoFar = (): readonly string[] => [...labs.values()].flatMap(({ borrowers }) => borrowers)

async function sharedLab(kind: Kind): Promise<Shared> {
  const present = labs.get(kind)
  if (present) return present
  const lab = kind === 'local' ? await startTestLab() : (await startWithAgents()).lab
  const shared = {
    lab,
    servicePid: lab.description.pids.service,
    pristine: JSON.stringify(await world(lab)),
    borrowers: [],
  }
  labs.set(kind, shared)
  return shared
}

async function handBack(kind: Kind, { lab, servicePid, pristine }: Shared, borrowed: TestLab): Promise<void> {
  const isIntact = await tidied(borrowed).catch(() => false)
  const isSame =
    isIntact && lab.description.pids.service === servicePid && JSON.stringify(await world(lab)) === pristine
  if (isSame) return
  labs.delete(kind)
  await lab.stop()
}

/** Removes what is exposed. False: something cannot be removed. */
async function tidied(lab: TestLab): Promise<boolean> {
  const exposures = await withStore(lab, (store) => Array.fromAsync(eachExposure(store)))
  for (const { planId } of exposures) if ((await run(lab, planId, 'remove')).status !== 200) return false
  return true
}
