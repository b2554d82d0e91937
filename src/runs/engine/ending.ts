import type { AuditAction, AuditEntry } from '../../model/audit.ts'
import { type ErrorCode, Fault, Problem, sentenceOf } from '../../model/errors.ts'
import type { EventType, NewEvent } from '../../model/event.ts'
import type { Plan, PlanState } from '../../model/exposure.ts'
import { CONSOLE_ACTOR, type Run, type RunAction, type RunState, SERVICE_ACTOR } from '../../model/run.ts'
import type { SagaOutcome } from './saga.ts'

/** What an outcome means for the store. `exposure`: its state after the run, or null if the name is free again. */
export interface Ending {
  readonly run: Exclude<RunState, 'running'>
  readonly plan: PlanState
  readonly exposure: PlanState | null
  readonly audit: AuditEntry['outcome']
}

const ENDINGS: Record<RunAction, Record<SagaOutcome['kind'], Ending>> = {
  apply: {
    succeeded: { run: 'succeeded', plan: 'applied', exposure: 'applied', audit: 'ok' },
    rolled_back: { run: 'rolled_back', plan: 'rolled_back', exposure: null, audit: 'rolled_back' },
    blocked: { run: 'blocked', plan: 'blocked', exposure: 'blocked', audit: 'blocked' },
  },
  update: {
    succeeded: { run: 'succeeded', plan: 'applied', exposure: 'applied', audit: 'ok' },
    rolled_back: { run: 'rolled_back', plan: 'rolled_back', exposure: 'applied', audit: 'rolled_back' },
    blocked: { run: 'blocked', plan: 'blocked', exposure: 'blocked', audit: 'blocked' },
  },
  remove: {
    succeeded: { run: 'succeeded', plan: 'removed', exposure: null, audit: 'ok' },
    rolled_back: { run: 'rolled_back', plan: 'applied', exposure: 'applied', audit: 'rolled_back' },
    blocked: { run: 'blocked', plan: 'blocked', exposure: 'blocked', audit: 'blocked' },
  },
}

export const endingOf = (action: RunAction, outcome: SagaOutcome): Ending => ENDINGS[action][outcome.kind]

/** The audit action of a run. The expiry of an exposure and the resolving of a blocked plan have names of their own. */
export function auditActionOf({ action, actor }: Run): AuditAction {
  if (actor === CONSOLE_ACTOR) return 'resolve'
  return actor === SERVICE_ACTOR && action === 'remove' ? 'expire' : action
}

/** Runs stored by schema versions below 8 have no network: only internal callers could begin them. */
export const networkOf = ({ actor, network }: Run): AuditEntry['network'] =>
  network ?? (actor === SERVICE_ACTOR || actor === CONSOLE_ACTOR ? 'self' : 'internal')

/** The right that the run was allowed by, and whether recovery finished it. */
export function factsOf({ right }: Run, recovered: boolean): AuditEntry['facts'] {
  if (right === undefined && !recovered) return undefined
  return { ...(right !== undefined && { right }), ...(recovered && { recovered }) }
}

/** The event for the end of a run. */
export function eventOf({ url, request }: Plan, run: Run, outcome: SagaOutcome, at: number): NewEvent {
  const { planId, host, action, actor } = run
  const about = { at, host, planId }
  if (outcome.kind !== 'succeeded') {
    const { code, message: reason } = problemOf(action, host, outcome)
    const facts = { action, state: endingOf(action, outcome).plan, code, reason, actor }
    return { ...about, type: outcome.kind === 'blocked' ? 'exposure.blocked' : 'exposure.rolled_back', facts }
  }
  if (action === 'remove') {
    const type: EventType = auditActionOf(run) === 'expire' ? 'exposure.expired' : 'exposure.removed'
    return { ...about, type, facts: { url, actor } }
  }
  const { server, port, tls, expiresIn } = request
  const expiresAt = expiresIn ? new Date(at + expiresIn * 1000).toISOString() : null
  if (action === 'update') {
    const facts = { url, server, port, tls, expiresAt, actor, replaces: request.replaces ?? null }
    return { ...about, type: 'exposure.updated', facts }
  }
  return { ...about, type: 'exposure.applied', facts: { url, server, port, tls, expiresAt, actor } }
}

/** The problem for the caller of a run that did not succeed: the code of the failed check or step, with every step and every undo. */
export function problemOf(
  action: RunAction,
  host: string,
  outcome: Exclude<SagaOutcome, { kind: 'succeeded' }>,
): Problem {
  const { steps, rollback, fault } = outcome
  const reason = fault instanceof Problem ? fault.message : sentenceOf(fault)
  if (outcome.kind === 'blocked') {
    const stuck = rollback.at(-1)
    return new Problem(
      'rollback_blocked',
      `${reason} Undoing step ${stuck?.name} failed as well: ${stuck?.detail} No run can change ${host} until the plan is resolved.`,
      { steps, rollback },
    )
  }
  const members = fault instanceof Problem ? fault.members : {}
  const retryAfter = fault instanceof Fault ? fault.retryAfter : undefined
  return new Problem(codeOf(action, fault), reason, {
    ...members,
    ...(retryAfter !== undefined && { retryAfter }),
    steps,
    rollback,
  })
}

function codeOf(action: RunAction, fault: unknown): ErrorCode {
  if (fault instanceof Problem) return fault.code
  if (fault instanceof Fault && fault.code) return fault.code
  return action === 'remove' ? 'remove_failed' : 'apply_failed'
}
