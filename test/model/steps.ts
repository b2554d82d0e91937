import type { Plan } from '../../src/model/exposure.ts'
import type { Receipt, StepResults } from '../../src/model/receipt.ts'
import type { LeaseGuard, Run, StepName } from '../../src/model/run.ts'
import { type Note, type Step, StepFault } from '../../src/runs/engine/step.ts'
import { currentOperation, point } from './schedule.ts'
import { type Part, Refused, type World } from './world.ts'

/**
 * How a step of the world fails. `refused`: before it changed anything. `half`: after its change. `transient`: nothing was
 * changed, and a later attempt may succeed. `undo`: its undo fails.
 */
export type Breakage = 'refused' | 'half' | 'transient' | 'undo'
export type BrokenSteps = ReadonlyMap<StepName, Breakage>

/** What the steps of one run act on. */
export interface StepSubject {
  readonly plan: Plan
  readonly run: Run
  /** The receipt of the exposure that the run changes. */
  readonly receipt: Receipt | undefined
  readonly guard: LeaseGuard
  readonly world: World
  readonly broken: () => BrokenSteps
  readonly now: () => number
}

interface Image {
  readonly before: string | null
  readonly after: string | null
}

/** The stand-ins for the steps of a run. Like the real ones they look before they act and ask the lease directly before an effect. */
export function stepsOf(subject: StepSubject): readonly Step[] {
  const { action, runId } = subject.run
  const [entry, record] = ownedBy(subject.receipt)
  const own = `${action} ${runId}`
  switch (action) {
    case 'apply':
      return [check(subject), proxy(subject, null, own), dns(subject, null, own), verify(subject, own, own)]
    case 'update':
      return [check(subject), proxy(subject, entry, own), verify(subject, own, record)]
    case 'remove':
      return [dns(subject, record, null), proxy(subject, entry, null)]
    default:
      throw new Error(`The model has no steps for ${action}.`)
  }
}

/** What a receipt says that stands in the world: entry and record. */
export const ownedBy = (receipt: Receipt | undefined): readonly [string | null, string | null] => [
  receipt?.files.at(0)?.hash ?? null,
  receipt?.records.at(0)?.value ?? null,
]

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

/** Notes its before-image during `do`, as the real step does when it is its turn at the edge. */
function proxy(subject: StepSubject, before: string | null, after: string | null): Step<'proxy', Image | null> {
  return {
    name: 'proxy',
    before: async () => null,
    do: async (_earlier, _afters, note) => {
      await change(subject, 'proxy', 'entry', { before, after }, note)
      return { files: after === null ? [] : [{ path: subject.run.host, hash: after }] }
    },
    undo: async (image) => {
      if (image) await undo(subject, 'proxy', 'entry', image)
    },
  }
}

function dns(subject: StepSubject, before: string | null, after: string | null): Step<'dns', Image> {
  return {
    name: 'dns',
    before: async () => ({ before, after }),
    do: async (image) => {
      await change(subject, 'dns', 'record', image)
      return { records: image.after === null ? [] : [recordAt(subject.run.host, image.after)] }
    },
    undo: (image) => undo(subject, 'dns', 'record', image),
  }
}

const recordAt = (name: string, value: string) => ({ name, type: 'TXT' as const, ttl: 60, value })

function verify(subject: StepSubject, entry: string, record: string | null): Step<'verify', null> {
  return {
    name: 'verify',
    decides: true,
    before: async () => null,
    do: async () => {
      failIf(subject, 'verify', 'refused', 'transient', 'half')
      const stands = { entry: await look(subject, 'entry'), record: await look(subject, 'record') }
      if (stands.entry !== entry || stands.record !== record) throw new StepFault('The host is not served as planned.')
      return VERIFIED
    },
    undo: async () => undefined,
  }
}

const VERIFIED: StepResults['verify'] = { primary: { server: '23', ok: true, detail: 'served' }, secondary: null }

async function look({ world, run }: StepSubject, part: Part): Promise<string | null> {
  await point(`look at ${part}`)
  return world.look(part, run.fence)
}

async function change(
  subject: StepSubject,
  step: StepName,
  part: Part,
  image: Image,
  note?: Note<Image>,
): Promise<void> {
  failIf(subject, step, 'refused', 'transient')
  const stands = await look(subject, part)
  if (stands !== image.before && stands !== image.after)
    throw new StepFault(`The ${part} was changed by somebody else.`, { untouched: true })
  await note?.(image)
  if (stands !== image.after) await write(subject, part, image.before, image.after)
  failIf(subject, step, 'half')
}

async function undo(subject: StepSubject, step: StepName, part: Part, image: Image): Promise<void> {
  failIf(subject, step, 'undo')
  const stands = await look(subject, part)
  if (stands === image.before) return
  if (stands !== image.after) throw new StepFault(`The ${part} was changed by somebody else.`)
  await write(subject, part, image.after, image.before)
}

async function write(
  { world, run, guard, now }: StepSubject,
  part: Part,
  from: string | null,
  to: string | null,
): Promise<void> {
  guard.assertHeld()
  const { runId, fence } = run
  const hand = { runId, fence, validUntil: now() + guard.leftMs }
  const troubles = currentOperation()?.troubles.length
  await point(`about to change ${part}`)
  try {
    world.write({ part, from, to }, hand, troubles !== currentOperation()?.troubles.length)
  } catch (error) {
    throw error instanceof Refused ? new StepFault(error.message, { untouched: true, cause: error }) : error
  }
}

function failIf({ broken }: StepSubject, step: StepName, ...kinds: readonly Breakage[]): void {
  const breakage = broken().get(step)
  if (breakage === undefined || !kinds.includes(breakage)) return
  const [untouched, transient] = [breakage === 'refused' || breakage === 'transient', breakage === 'transient']
  throw new StepFault(`Step ${step} is broken (${breakage}).`, { untouched, transient })
}
