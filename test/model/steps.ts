import { EdgeFault } from '../../src/edge/contract.ts'
import type { Plan } from '../../src/model/exposure.ts'
import type { ChosenCertificate, StepResults } from '../../src/model/receipt.ts'
import type { LeaseGuard, Run, RunTask, StepName } from '../../src/model/run.ts'
import { type Step, StepFault } from '../../src/runs/engine/step.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import { currentOperation, point } from './schedule.ts'
import { type Change, FOREIGN, type Part, Refused, type World } from './world.ts'

/**
 * How a step of the world fails. `refused`: before it changed anything. `half`: after its change. `transient`: nothing was
 * changed, and a later attempt may succeed. `undo`: its undo fails.
 */
export type Breakage = 'refused' | 'half' | 'transient' | 'undo'
export type BrokenSteps = ReadonlyMap<StepName, Breakage>

/** A host that a run changes, and the fence of its lease on the host. */
export interface Place {
  readonly host: string
  readonly world: World
  readonly fence: number
  readonly exposure: Owner | undefined
}

/** What the store says of a host. */
type Owner = Pick<Exposure, 'planId' | 'receipt'>

/** What the steps of one run act on. */
export interface StepSubject {
  readonly plan: Plan
  readonly run: Run
  readonly task: RunTask
  /** The host of the run first. */
  readonly places: readonly [Place, ...Place[]]
  readonly guard: LeaseGuard
  readonly broken: () => BrokenSteps
  readonly now: () => number
}

/** What stood at a host before a step, and what stands there after it. */
interface Item {
  readonly host: string
  readonly before: string | null
  readonly after: string | null
}

/** What a step wants to stand at a place. Throws where it does not accept what it finds. */
type Wish = (stands: string | null, place: Place) => string | null

/** The stand-ins for the steps of a run. Like the real ones they look before they act and ask the lease directly before an effect. */
export function stepsOf(subject: StepSubject): readonly Step[] {
  const { plan, run, task, places } = subject
  const { action, runId } = run
  const [entry, record] = ownedBy(places[0].exposure)
  const own = `${action} ${runId}`
  const planned = entryFor(plan.planId)
  switch (action) {
    case 'apply':
      return [
        check(subject),
        proxy(subject, replacing(null, planned)),
        dns(subject, replacing(null, own)),
        verify(subject),
      ]
    case 'update':
      return [check(subject), proxy(subject, replacing(entry, planned)), verify(subject)]
    case 'remove':
      return [dns(subject, replacing(record, null)), proxy(subject, replacing(entry, null))]
    case 'repair': {
      const overwrite = task.overwrite ?? false
      const { certificate: kept } = places[0].exposure?.receipt ?? {}
      return [
        ...(kept ? [certificate(() => kept)] : []),
        proxy(subject, restoring(entry, overwrite)),
        dns(subject, restoring(record, overwrite)),
        verify(subject),
      ]
    }
    case 'accept':
      return [proxy(subject, releasing(own)), dns(subject, releasing(own))]
    case 'renew':
      return [certificate(() => renewed(subject)), proxy(subject, renewing(runId)), verify(subject)]
    case 'converge':
      // Not in the histories of the model: test/faults/crash/crash-converge.test.ts walks it.
      return []
  }
}

/** An entry follows from its plan and its certificate. */
const entryFor = (planId: string, fingerprint?: string): string =>
  fingerprint === undefined ? planId : `${planId} ${fingerprint}`

/** What the store says that stands in the world: entry and record. */
export const ownedBy = (exposure: Owner | undefined): readonly [string | null, string | null] => {
  const { receipt, planId = '' } = exposure ?? {}
  return receipt
    ? [entryFor(planId, receipt.certificate?.fingerprint), receipt.records.at(0)?.value ?? null]
    : [null, null]
}

/** Accepts only what stood before, or what the step itself has left. */
const replacing =
  (before: string | null, after: string | null) =>
  (stands: string | null): string | null => {
    if (stands === before || stands === after) return after
    throw new StepFault(`Somebody else changed what was ${before}.`, { untouched: true })
  }

/** Puts back what is gone, and overwrites what somebody else wrote if it is told to. */
const restoring =
  (wanted: string | null, overwrite: boolean): Wish =>
  (stands) => {
    if (stands !== FOREIGN || overwrite) return wanted
    throw new StepFault('Somebody else changed it.', { untouched: true, code: 'changed_elsewhere' })
  }

/** The same entry with the certificate of the run. */
const renewing =
  (runId: string): Wish =>
  (stands, { exposure }) =>
    replacing(ownedBy(exposure)[0], exposure ? entryFor(exposure.planId, runId) : null)(stands)

/** Leaves everything as it is, but it is not ours any more. */
const releasing =
  (released: string): Wish =>
  (stands) =>
    stands === null || stands === FOREIGN ? stands : released

const check = (subject: StepSubject): Step<'check'> => ({
  name: 'check',
  before: async () => null,
  do: async () => {
    await point('check')
    failIf(subject, 'check', 'refused', 'transient', 'half')
    return null
  },
  undo: async () => failIf(subject, 'check', 'undo'),
})

const certificate = (chosen: () => ChosenCertificate): Step<'certificate'> => ({
  name: 'certificate',
  before: async () => null,
  do: async () => chosen(),
  undo: async () => undefined,
})

const renewed = ({ run, places }: StepSubject): ChosenCertificate => ({
  fingerprint: run.runId,
  certificateFile: 'certificate.pem',
  keyFile: 'key.pem',
  source: 'issued',
  names: places.map(({ host }) => host),
  notBefore: 0,
  notAfter: 1,
  ours: true,
})

/** The edge itself keeps what stood before a run, as the real one does: an undo names the run that made the change. */
function proxy(subject: StepSubject, wish: Wish): Step<'proxy', { readonly run: string }> {
  const { run, places } = subject
  return {
    name: 'proxy',
    before: async () => ({ run: run.runId }),
    do: async () => {
      failIf(subject, 'proxy', 'refused', 'transient')
      await change(subject, 'proxy', 'entry', await itemsAt(subject, 'entry', wish))
      return { generation: 1 }
    },
    undo: async ({ run: made }) => {
      const items: Item[] = []
      for (const place of places) {
        const stands = await look(place, 'entry')
        const before = place.world.before(made)
        if (before === undefined) continue
        if (stands === FOREIGN && before !== FOREIGN) throw new StepFault('Somebody else changed the entry.')
        items.push({ host: place.host, before, after: stands })
      }
      await undo(subject, 'proxy', 'entry', items)
    },
  }
}

function dns(subject: StepSubject, wish: Wish): Step<'dns', readonly Item[]> {
  return {
    name: 'dns',
    before: () => itemsAt(subject, 'record', wish),
    do: async (items) => {
      failIf(subject, 'dns', 'refused', 'transient')
      await change(subject, 'dns', 'record', items)
      return { records: items.flatMap(({ host, after }) => (after === null ? [] : [recordAt(host, after)])) }
    },
    undo: (items) => undo(subject, 'dns', 'record', items),
  }
}

const recordAt = (name: string, value: string) => ({ name, type: 'TXT' as const, ttl: 60, value })

/** The verdict: every host has the entry that the run wrote and, except in a renewal, a record of ours. */
function verify(subject: StepSubject): Step<'verify', null> {
  const { run, places } = subject
  return {
    name: 'verify',
    decides: true,
    before: async () => null,
    do: async (_before, afters) => {
      failIf(subject, 'verify', 'refused', 'transient', 'half')
      for (const place of places) {
        const planId = run.action === 'update' ? run.planId : (place.exposure?.planId ?? run.planId)
        const entry = entryFor(planId, afters.certificate?.fingerprint)
        const record = afters.dns?.records.at(0)?.value ?? ownedBy(place.exposure)[1]
        const stands = { entry: await look(place, 'entry'), record: await look(place, 'record') }
        if (stands.entry !== entry || (run.action !== 'renew' && stands.record !== record))
          throw new StepFault('The host is not served as planned.')
      }
      return VERIFIED
    },
    undo: async () => undefined,
  }
}

const VERIFIED: StepResults['verify'] = { primary: { server: '23', ok: true, detail: 'served' }, secondary: null }

async function look({ world, fence }: Place, part: Part): Promise<string | null> {
  await point(`look at ${part}`)
  return world.look(part, fence)
}

async function itemsAt({ places }: StepSubject, part: Part, wish: Wish): Promise<readonly Item[]> {
  const items: Item[] = []
  for (const place of places) {
    const before = await look(place, part)
    items.push({ host: place.host, before, after: wish(before, place) })
  }
  return items
}

async function change(subject: StepSubject, step: StepName, part: Part, items: readonly Item[]): Promise<void> {
  for (const { host, before, after } of items) {
    const place = placeOf(subject, host)
    const stands = await look(place, part)
    if (stands !== before && stands !== after)
      throw new StepFault(`Somebody else changed the ${part}.`, { untouched: items.length === 1 })
    if (stands === after) place.world.confirm(part)
    else await write(subject, place, { part, from: before, to: after })
  }
  failIf(subject, step, 'half')
}

async function undo(subject: StepSubject, step: StepName, part: Part, items: readonly Item[]): Promise<void> {
  failIf(subject, step, 'undo')
  for (const { host, before, after } of items) {
    const place = placeOf(subject, host)
    const stands = await look(place, part)
    if (stands === before) continue
    if (stands !== after) throw new StepFault(`Somebody else changed the ${part}.`)
    await write(subject, place, { part, from: after, to: before })
  }
}

function placeOf({ places }: StepSubject, host: string): Place {
  const place = places.find((each) => each.host === host)
  if (!place) throw new StepFault(`The run does not hold ${host}.`)
  return place
}

async function write(subject: StepSubject, { world, fence }: Place, change: Change): Promise<void> {
  const { run, task, guard, now } = subject
  guard.assertHeld()
  const overwrites = task.overwrite ?? false
  const hand = { runId: run.runId, fence, validUntil: now() + guard.leftMs, overwrites }
  const troubles = currentOperation()?.troubles.length
  await point(`about to change ${change.part}`)
  try {
    world.write(change, hand, troubles !== currentOperation()?.troubles.length)
  } catch (error) {
    throw error instanceof Refused ? faultOf(change.part, error) : error
  }
}

/** An edge tells a run that it is too old. A name server only refuses it. */
function faultOf(part: Part, { message, isLate }: Refused): Error {
  return isLate && part === 'entry' ? new EdgeFault('fenced', message) : new StepFault(message)
}

function failIf({ broken }: StepSubject, step: StepName, ...kinds: readonly Breakage[]): void {
  const breakage = broken().get(step)
  if (breakage === undefined || !kinds.includes(breakage)) return
  const [untouched, transient] = [breakage === 'refused' || breakage === 'transient', breakage === 'transient']
  throw new StepFault(`Step ${step} is broken (${breakage}).`, { untouched, transient })
}
