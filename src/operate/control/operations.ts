import { createHash } from 'node:crypto'
import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/value'
import { Fault, sentenceOf } from '../../model/errors.ts'
import { leftOvers, resolve } from '../../runs/engine/resolve.ts'
import { previewRestore, restoreBackup, shownBackup, shownRestore } from '../backups.ts'
import { chosen, confirmRemoval, toConfirm } from '../converge.ts'
import type { MachineParts } from '../machine.ts'
import { verify } from '../verify/verify.ts'
import { exposedNames, otherServices, withdrawAll } from '../withdraw.ts'
import { closed } from './protocol.ts'

/** What commands do with the parts of the service: in the running service, or in the command itself if there is none. */
export type OperationParts = Omit<MachineParts, 'hooks' | 'webhookReport'>

type Perform<Args, Result> = (args: Args, parts: OperationParts) => Promise<Result>

interface Operation<Args, Result> {
  readonly perform: Perform<Args, Result>
  /** The same with arguments that come from outside. */
  readonly performChecked: Perform<unknown, Result>
}

const operation = <Args extends TSchema, Result>(
  args: Args,
  perform: Perform<Static<Args>, Result>,
): Operation<Static<Args>, Result> => ({
  perform,
  performChecked: async (given, parts) => {
    if (!Check(args, given)) throw new UnknownOperation()
    return perform(given, parts)
  },
})

const id = Type.String({ maxLength: 200 })
const nothing = closed({})
const optionalHost = { host: Type.Optional(Type.String({ maxLength: 253 })) }
const one = closed(optionalHost)
const RESOLUTION = Type.Enum(['undo', 'accept', 'repair', 'remove'])

/** `seen`: the state that a person has confirmed. If it has changed, nothing is done. */
const OPERATIONS = {
  listBackups: operation(nothing, async (_, { shelf }) => (await shelf.list()).map(shownBackup)),
  previewRestore: operation(closed({ runId: id }), async ({ runId }, parts) => {
    const preview = await previewRestore(runId, parts)
    return { ...shownRestore(preview), seen: digest([shownRestore(preview), preview.now.revision]) }
  }),
  restore: operation(closed({ runId: id, seen: id }), async ({ runId, seen }, parts) => {
    const preview = await previewRestore(runId, parts)
    if (digest([shownRestore(preview), preview.now.revision]) !== seen) throw changed()
    return restoreBackup(preview, parts)
  }),
  leftOvers: operation(closed({ planId: id }), async ({ planId }, { store }) =>
    (await leftOvers(store, planId)).map(({ step, detail }) => ({ step, detail: detail ?? null })),
  ),
  resolve: operation(closed({ planId: id, by: RESOLUTION }), async ({ planId, by }, parts) => {
    // A run that begins without the edge is left under way, for a service to finish.
    const refusal = await parts.withdrawal.refusal()
    if (refusal) throw refusal
    const { outcome, run, afters } = await resolve(planId, by, parts)
    const stuck = outcome.kind === 'blocked' ? outcome.rollback.at(-1) : undefined
    if (stuck) throw new Fault(`The plan is still blocked at ${stuck.name}: ${stuck.detail} ${leads(run.planId)}`)
    if (by !== 'undo' && outcome.kind !== 'succeeded')
      throw new Fault(`The plan is still blocked: ${sentenceOf(outcome.fault)}`)
    return { host: run.host, released: afters.proxy?.released ?? null }
  }),
  compareEdges: operation(nothing, async (_, { converge }) => {
    const edges = await converge.compare()
    return { edges, seen: digest(toConfirm(edges)) }
  }),
  confirmRemoval: operation(closed({ seen: id }), async ({ seen }, parts) => {
    const going = toConfirm(await parts.converge.compare())
    if (digest(going) !== seen) throw changed()
    await confirmRemoval(going, parts)
    return null
  }),
  /** Without a host: all that wait. */
  waiting: operation(one, async ({ host }, { converge }) => {
    const waiting = chosen(await converge.waiting(), host)
    return { waiting: waiting.map((each) => ({ ...each, edge: each.edge ?? null })), seen: digest(waiting) }
  }),
  settle: operation(closed({ ...optionalHost, seen: id }), async ({ host, seen }, { converge }) => {
    const waiting = chosen(await converge.waiting(), host)
    if (digest(waiting) !== seen) throw changed()
    await converge.settle(waiting.map((each) => each.host))
    return null
  }),
  exposedNames: operation(nothing, async (_, parts) => ({
    names: await exposedNames(parts),
    services: await otherServices(parts),
  })),
  withdraw: operation(nothing, (_, parts) => withdrawAll(parts)),
  verify: operation(nothing, (_, parts) => verify(parts)),
}

type Operations = typeof OPERATIONS
export type OperationName = keyof Operations
export type ArgsOf<Name extends OperationName> = Parameters<Operations[Name]['perform']>[0]
export type ResultOf<Name extends OperationName> = Awaited<ReturnType<Operations[Name]['perform']>>

/** Performs an operation by name. Rejects with UnknownOperation if there is none with such arguments. */
export async function perform(name: string, args: unknown, parts: OperationParts): Promise<unknown> {
  const [, found] = Object.entries(OPERATIONS).find(([each]) => each === name) ?? []
  if (!found) throw new UnknownOperation()
  return found.performChecked(args, parts)
}

export class UnknownOperation extends Error {
  constructor() {
    super('The service does not know this request. Is the command of another version?')
  }
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

const changed = (): Fault =>
  new Fault('Something has changed since you looked. Nothing was done. Run the command again.')

/** What else a person can do about a plan that stays blocked. */
const leads = (planId: string): string =>
  `To keep what stands: drawbridge resolve ${planId} --accept. To write it again: drawbridge resolve ${planId} --repair. To take it off: drawbridge resolve ${planId} --remove.`
