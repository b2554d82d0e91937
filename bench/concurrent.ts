import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EdgeDescription, LabDescription } from '../lab/description.ts'
import type { Lab } from '../lab/lab.ts'
import { onLab } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { oneByOne, type Planned, planned, requestFor } from './exposures.ts'
import { atRest, testAndReload } from './floor.ts'
import { takeLateness } from './loop-lateness.ts'
import { median, percentile, roundsOf, summarize, timed } from './measure.ts'
import { startNeighbour, type Visits } from './neighbour.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

type Size = Sizes['concurrent']

/** At most this many times one apply, by how many run at once. */
const MOST_TIMES: Readonly<Record<number, number>> = { 16: 4, 64: 12 }
const SINGLES = 8
const QUIET_PLANS = 100
const MOST_PLAN_RATIO = 20
const MOST_LATE_MS = 50
const MOST_NEIGHBOUR_RATIO = 2
const MOST_ADDING_S = 45
/** For each number of runs at once. */
const MOST_BURSTS_MS = 10_000

/** Many runs at once, what they do to plans, to the event loop and to the traffic of a neighbour, at every size. */
export async function benchConcurrent({ concurrent: size }: Sizes): Promise<Row[]> {
  const rows: Row[] = []
  for (const hosts of size.hosts)
    rows.push(...(await onLab({ hosts, tls: 'wildcard', probesLoop: true }, (lab) => atSize(lab, hosts, size))))
  return rows
}

/** Many callers fill an empty installation. */
export const benchAdding = ({ concurrent: size }: Sizes): Promise<Row[]> =>
  onLab({ hosts: 10, tls: 'wildcard' }, ({ description }) => adding(description, size.added))

async function atSize(lab: Lab, hosts: number, size: Size): Promise<Row[]> {
  const { description } = lab
  const callers = Array.from({ length: Math.max(...size.runs) }, () => new Caller(description))
  const [caller] = callers as [Caller, ...Caller[]]
  const where = `${hosts} hosts`
  const one = await oneByOne(caller, description, { prefix: 'one', rounds: SINGLES, warmUp: 3 })
  const quiet = await plans(caller, description, 'quiet', (done) => done < QUIET_PLANS)
  const beside = await planned(caller, description, 'neighbour')
  await beside.apply()
  const neighbour = startNeighbour(description, beside.host)
  try {
    const reloadsBefore = reloads(description.edges.primary)
    const started = performance.now()
    const busy = await neighbour.during(async () => [
      ...(await bursts(callers, description, size, one, where)),
      ...(await mixed(lab, callers, size, quiet, where)),
    ])
    const perSecond = (reloads(description.edges.primary) - reloadsBefore) / ((performance.now() - started) / 1000)
    const bare = await neighbour.during(() => reloadAt(description.edges.primary, perSecond, size.mixedMs))
    return [
      row(`${where}: one apply`, 'ms', one.apply),
      row(`${where}: one remove`, 'ms', one.remove),
      ...busy.result,
      ...neighbourRows(where, busy.visits, bare.visits, perSecond),
    ]
  } finally {
    await neighbour.stop()
    for (const each of callers) each.close()
  }
}

interface Burst {
  readonly ms: number
  readonly refused: number
}

/** Sends everything at the same moment. The time ends with the last answer. */
async function burst(works: readonly (() => Promise<unknown>)[]): Promise<Burst> {
  let outcomes: PromiseSettledResult<unknown>[] = []
  const ms = await timed(async () => {
    outcomes = await Promise.allSettled(works.map((work) => work()))
  })
  return { ms, refused: outcomes.filter(({ status }) => status === 'rejected').length }
}

export async function applyAndRemove(
  callers: readonly Caller[],
  lab: LabDescription,
  prefix: string,
  send: typeof burst = burst,
) {
  const exposures: Planned[] = []
  for (const [at, caller] of callers.entries()) exposures.push(await planned(caller, lab, `${prefix}-${at}`))
  await atRest(lab)
  const apply = await send(exposures.map((exposure) => exposure.apply))
  // What was refused is not there to be removed.
  const removals = await Promise.allSettled(exposures.map((exposure) => exposure.toRemove()))
  await atRest(lab)
  const remove = await send(removals.flatMap((removal) => (removal.status === 'fulfilled' ? [removal.value] : [])))
  return { apply, remove }
}

async function bursts(
  callers: readonly Caller[],
  lab: LabDescription,
  size: Size,
  one: { readonly apply: readonly number[]; readonly remove: readonly number[] },
  where: string,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of size.runs) {
    const found: Awaited<ReturnType<typeof applyAndRemove>>[] = []
    for (const round of roundsOf({ rounds: size.rounds, warmUp: 0, mostMs: MOST_BURSTS_MS }))
      found.push(await applyAndRemove(callers.slice(0, count), lab, `burst-${count}-${round}`))
    for (const action of ['apply', 'remove'] as const) {
      const ms = found.map((each) => each[action].ms)
      const refused = found.reduce((sum, each) => sum + each[action].refused, 0)
      const what = `${where}: ${count} ${action === 'apply' ? 'applies' : 'removes'} at once`
      rows.push(
        row(what, 'ms', ms),
        row(`${what} : one`, '×', median(ms) / median(one[action]), { most: MOST_TIMES[count] ?? MOST_TIMES[64] ?? 0 }),
        row(`${what}: refused`, 'count', refused, { most: 0 }),
      )
    }
  }
  return rows
}

/** The most runs at once, again and again, while one caller plans without a pause. */
async function mixed(lab: Lab, callers: readonly Caller[], size: Size, quiet: Plans, where: string): Promise<Row[]> {
  const planner = new Caller(lab.description)
  const endsAt = performance.now() + size.mixedMs
  const late: number[] = []
  const state = { isSent: false, isOver: false }
  const send: typeof burst = async (works) => {
    await takeLateness(lab)
    state.isSent = true
    const sent = await burst(works)
    state.isSent = false
    late.push(...(await takeLateness(lab)))
    return sent
  }
  const changing = (async () => {
    for (let round = 0; performance.now() < endsAt; round += 1)
      await applyAndRemove(callers, lab.description, `mixed-${round}`, send)
  })().finally(() => {
    state.isOver = true
  })
  const busy = await plans(
    planner,
    lab.description,
    'busy',
    () => !state.isOver,
    () => state.isSent,
  )
  await changing
  planner.close()
  return mixedRows(`${where}, ${callers.length} runs at once`, quiet, busy, late)
}

function mixedRows(where: string, quiet: Plans, busy: Plans, late: readonly number[]): Row[] {
  const sorted = late.toSorted((a, b) => a - b)
  const ratio = summarize(busy.ms).p99 / median(quiet.ms)
  return [
    row(`${where}: a plan before them`, 'ms', quiet.ms),
    row(`${where}: a plan meanwhile`, 'ms', busy.ms),
    row(`${where}: plans refused`, 'count', quiet.refused + busy.refused, { most: 0 }),
    row(`${where}: p99 of a plan meanwhile : p50 before`, '×', ratio, { most: MOST_PLAN_RATIO }),
    row(`${where}: event loop late at p99.9, less the wait for a processor`, 'ms', percentile(sorted, 0.999), {
      most: MOST_LATE_MS,
    }),
    row(`${where}: event loop late at most`, 'ms', percentile(sorted, 1)),
  ]
}

interface Plans {
  readonly ms: number[]
  refused: number
}

async function plans(
  caller: Caller,
  { zone }: LabDescription,
  prefix: string,
  goesOn: (done: number) => boolean,
  counts = () => true,
): Promise<Plans> {
  const found: Plans = { ms: [], refused: 0 }
  for (let at = 0; goesOn(at); at += 1) {
    const isCounted = counts()
    const { ms, refused } = await burst([() => caller.post('/api/deploy/plan', requestFor(zone, `${prefix}-${at}`))])
    found.refused += refused
    if (isCounted) found.ms.push(ms)
  }
  return found
}

/** How often nginx has reloaded, from its log. */
const reloads = ({ errorLog }: EdgeDescription): number =>
  readFileSync(errorLog, 'utf8')
    .split('] ')
    .filter((line) => line.includes(': reconfiguring')).length

async function reloadAt(edge: EdgeDescription, perSecond: number, forMs: number): Promise<void> {
  const started = performance.now()
  for (let done = 1; performance.now() - started < forMs; done += 1) {
    await testAndReload(edge)
    await sleep(Math.max(0, started + (1000 * done) / perSecond - performance.now()))
  }
}

function neighbourRows(where: string, busy: Visits, bare: Visits, perSecond: number): Row[] {
  const ratio = summarize(busy.ms).p99 / summarize(bare.ms).p99
  return [
    row(`${where}: reloads of the Primary's nginx meanwhile`, '/s', perSecond),
    row(`${where}: neighbour's requests on new connections meanwhile`, 'ms', busy.ms),
    row(`${where}: neighbour's failed requests`, 'count', busy.failed, { most: 0 }),
    row(`${where}: neighbour beside bare nginx -t and HUP at the same rate`, 'ms', bare.ms),
    row(`${where}: neighbour's failed requests beside bare reloads`, 'count', bare.failed),
    row(`${where}: neighbour's p99 : beside bare reloads`, '×', ratio, { most: MOST_NEIGHBOUR_RATIO }),
  ]
}

/** Every caller plans and applies one host after the other. Ends early when it takes too long, and says how far it came. */
async function adding(lab: LabDescription, { hosts, callers, mostMs }: Size['added']): Promise<Row[]> {
  let next = 0
  const counts = { served: 0, refused: 0 }
  const started = performance.now()
  const add = async () => {
    const caller = new Caller(lab)
    while (next < hosts && performance.now() - started < mostMs) {
      const label = `added-${next}`
      next += 1
      await planned(caller, lab, label)
        .then((exposure) => exposure.apply())
        .then(
          () => {
            counts.served += 1
          },
          () => {
            counts.refused += 1
          },
        )
    }
    caller.close()
  }
  const ms = await timed(() => Promise.all(Array.from({ length: callers }, add)))
  const what = `${hosts} hosts added by ${callers} callers, plan to served`
  return [
    row(`${what}: time`, 's', ms / 1000, { most: MOST_ADDING_S }),
    row(`${what}: served`, 'count', counts.served, { least: hosts }),
    row(`${what}: refused`, 'count', counts.refused, { most: 0 }),
  ]
}
