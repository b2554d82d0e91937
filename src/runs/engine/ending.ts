import { IssueFault } from '../../certificates/contract.ts'
import type { AuditAction, AuditEntry } from '../../model/audit.ts'
import { type ErrorCode, Fault, Problem, type ProblemMembers, saidIn, sentenceOf } from '../../model/errors.ts'
import type { EventType, NewEvent } from '../../model/event.ts'
import { labelsOf, type Plan, type PlanState } from '../../model/exposure.ts'
import type { Afters, ChosenCertificate } from '../../model/receipt.ts'
import { CONSOLE_ACTOR, type Run, type RunAction, type RunState, type RunTask, SERVICE_ACTOR } from '../../model/run.ts'
import type { Exposure } from '../../store/ports/exposures.ts'
import type { SagaOutcome } from './saga.ts'

/**
 * What an outcome means for the store. `plan`: its state after the run; undefined: the state before. `exposure`: its state after
 * the run, or null if it is not ours any more.
 */
export interface Ending {
  readonly run: Exclude<RunState, 'running'>
  readonly plan?: PlanState
  readonly exposure: PlanState | null
  readonly audit: AuditEntry['outcome']
}

const ROLLED_BACK = { run: 'rolled_back', audit: 'rolled_back' } as const
const SUCCEEDED = { run: 'succeeded', audit: 'ok' } as const
/** The plan is applied before and after. */
const SAME_PLAN = {
  succeeded: { ...SUCCEEDED, plan: 'applied', exposure: 'applied' },
  rolled_back: { ...ROLLED_BACK, plan: 'applied', exposure: 'applied' },
} as const

const ENDINGS: Record<RunAction, Record<'succeeded' | 'rolled_back', Ending>> = {
  apply: {
    succeeded: { ...SUCCEEDED, plan: 'applied', exposure: 'applied' },
    rolled_back: { ...ROLLED_BACK, plan: 'rolled_back', exposure: null },
  },
  update: {
    succeeded: { ...SUCCEEDED, plan: 'applied', exposure: 'applied' },
    rolled_back: { ...ROLLED_BACK, plan: 'rolled_back', exposure: 'applied' },
  },
  remove: {
    succeeded: { ...SUCCEEDED, plan: 'removed', exposure: null },
    rolled_back: { ...ROLLED_BACK, plan: 'applied', exposure: 'applied' },
  },
  repair: SAME_PLAN,
  accept: { ...SAME_PLAN, succeeded: { ...SUCCEEDED, plan: 'released', exposure: null } },
  renew: SAME_PLAN,
  // Its plan may also be one that was removed.
  converge: {
    succeeded: { ...SUCCEEDED, exposure: 'applied' },
    rolled_back: { ...ROLLED_BACK, exposure: 'applied' },
  },
}

const BLOCKED: Ending = { run: 'blocked', plan: 'blocked', exposure: 'blocked', audit: 'blocked' }

export function endingOf(action: RunAction, { kind }: SagaOutcome, { resolves }: RunTask = {}): Ending {
  if (kind === 'blocked') return BLOCKED
  // A run that was to resolve a blocked plan and was undone leaves the plan blocked.
  if (kind === 'rolled_back' && resolves !== undefined) return { ...ROLLED_BACK, exposure: 'blocked' }
  return ENDINGS[action][kind]
}

/** The audit action of a run. An expiry, an adoption, a release and a resolve have names of their own. */
export function auditActionOf({
  run: { action, actor },
  plan,
  task,
}: Pick<Ended, 'run' | 'plan' | 'task'>): AuditAction {
  if (actor === CONSOLE_ACTOR && action !== 'converge') return 'resolve'
  if (action === 'remove' && actor === SERVICE_ACTOR) return 'expire'
  if (action === 'apply' && plan.request.adopt) return 'adopt'
  return action === 'accept' && task.intact ? 'release' : action
}

/** What the audit says of a run beside its outcome: by what right, whether recovery finished it, and what it was told. */
export function factsOf({ plan, run, task, afters, members, recovered }: Ended): AuditEntry['facts'] {
  const { right, action } = run
  const { certificate } = action === 'renew' ? afters : {}
  const facts = {
    right,
    ...(recovered && { recovered }),
    ...(task.overwrite && { overwrite: true }),
    ...(task.mark !== undefined && { only: 'owner mark' }),
    ...(task.edge !== undefined && { edge: task.edge, hosts: members.length }),
    ...(certificate && { ...certificateFacts(certificate), hosts: members.length }),
    // A converge or renewal is for many hosts; its plan is only the first of them.
    ...(members.length <= 1 && action !== 'converge' && labelsOf(plan)),
  }
  return Object.keys(facts).length === 0 ? undefined : facts
}

/** A run that has ended. `plan` is as it was before the end. */
export interface Ended {
  readonly plan: Plan
  readonly run: Run
  readonly task: RunTask
  readonly outcome: SagaOutcome
  readonly afters: Afters
  /** The exposures that the run had claimed, as they were before the end. */
  readonly members: readonly Exposure[]
  /** An earlier process or another instance began it. */
  readonly recovered: boolean
  readonly at: number
}

export interface RunResult {
  readonly run: Run
  readonly outcome: SagaOutcome
  readonly afters: Afters
  /** The hosts that the run changed. */
  readonly hosts: readonly string[]
  readonly finishedAt: number
}

/** The end of a run as its journal keeps it for the instance whose caller waits. */
export interface StoredEnd {
  readonly kind: SagaOutcome['kind']
  readonly steps: SagaOutcome['steps']
  readonly hosts: readonly string[]
  readonly rollback?: SagaOutcome['steps']
  readonly fault?: { readonly code: ErrorCode; readonly reason: string; readonly members: ProblemMembers }
}

export function storedEnd({ run, outcome, members }: Ended): StoredEnd {
  const { kind, steps } = outcome
  const end = { kind, steps, hosts: hostsOf(run, members) }
  if (outcome.kind === 'succeeded') return end
  const { rollback, fault } = outcome
  return {
    ...end,
    rollback,
    fault: { code: codeOf(run.action, fault), reason: reasonOf(fault), members: membersOf(fault) },
  }
}

/** The outcome that makes the same answer as that of the instance which has executed the run. */
export function outcomeOf({ kind, steps, rollback = [], fault }: StoredEnd): SagaOutcome {
  if (kind === 'succeeded') return { kind, steps }
  const cause = fault && new Problem(fault.code, fault.reason, fault.members)
  return { kind, steps, rollback, fault: cause }
}

/** All hosts that a run changed, its own first. */
export const hostsOf = ({ host }: Run, members: readonly Pick<Exposure, 'host'>[]): readonly string[] => [
  ...new Set([host, ...members.map((member) => member.host)]),
]

/** The event for the end of a run. A renewal has one of its own, and none where nothing changed or where it is tried again. */
export function eventOf(ended: Ended): NewEvent | undefined {
  const { plan, run, task, outcome, at } = ended
  const { url, request } = plan
  const { planId, host, action, actor } = run
  const about = { at, host, planId }
  const labels = labelsOf(plan)
  // The owner mark is for machines, and its rewriting is tried again.
  if (action === 'converge' || (task.mark !== undefined && outcome.kind !== 'blocked')) return undefined
  if (outcome.kind === 'blocked' || (outcome.kind === 'rolled_back' && action !== 'renew')) {
    const { code, message: reason } = problemOf(action, host, outcome)
    const facts = { action, state: endingOf(action, outcome).plan ?? plan.state, code, reason, actor, ...labels }
    return { ...about, type: outcome.kind === 'blocked' ? 'exposure.blocked' : 'exposure.rolled_back', facts }
  }
  if (action === 'renew') return renewedEvent(ended)
  if (action === 'repair')
    return { ...about, type: 'exposure.repaired', facts: { url, actor, overwrite: task.overwrite ?? false, ...labels } }
  if (action === 'accept') return { ...about, type: 'exposure.released', facts: { url, actor, ...labels } }
  if (action === 'remove') {
    const type: EventType = auditActionOf(ended) === 'expire' ? 'exposure.expired' : 'exposure.removed'
    return { ...about, type, facts: { url, actor, ...labels } }
  }
  const { server, port, tls, expiresIn } = request
  const expiresAt = expiresIn ? new Date(at + expiresIn * 1000).toISOString() : null
  if (action === 'update') {
    const facts = { url, server, port, tls, expiresAt, actor, replaces: request.replaces ?? null, ...labels }
    return { ...about, type: 'exposure.updated', facts }
  }
  return { ...about, type: 'exposure.applied', facts: { url, server, port, tls, expiresAt, actor, ...labels } }
}

/** One event for a certificate, however many hosts are served with it: its first name stands for them. */
function renewedEvent({ outcome, afters: { certificate }, members, at }: Ended): NewEvent | undefined {
  const former = members[0]?.receipt?.certificate?.fingerprint
  if (outcome.kind !== 'succeeded' || !certificate || certificate.fingerprint === former) return undefined
  const facts = { ...certificateFacts(certificate), serial: certificate.serial ?? '', hosts: members.length }
  return { at, type: 'certificate.renewed', host: certificate.names[0] ?? '', facts }
}

const certificateFacts = ({ names, notAfter, ours }: ChosenCertificate) => ({
  names: names.join(', '),
  notAfter: new Date(notAfter).toISOString(),
  source: ours ? 'issued' : 'placed',
})

/** The problem for the caller of a run that did not succeed: the code of the failed check or step, with every step and every undo. */
export function problemOf(
  action: RunAction,
  host: string,
  outcome: Exclude<SagaOutcome, { kind: 'succeeded' }>,
): Problem {
  const { steps, rollback, fault } = outcome
  const reason = reasonOf(fault)
  if (outcome.kind === 'blocked') {
    const stuck = rollback.at(-1)
    const undo = stuck ? `Undoing step ${stuck.name} failed as well: ${stuck.detail}` : 'Nothing was undone.'
    return new Problem('rollback_blocked', `${reason} ${undo} No run can change ${host} until the plan is resolved.`, {
      ...membersOf(fault),
      steps,
      rollback,
    })
  }
  return new Problem(codeOf(action, fault), reason, { ...membersOf(fault), steps, rollback })
}

const reasonOf = (fault: unknown): string => (fault instanceof Problem ? fault.message : sentenceOf(fault))

function membersOf(fault: unknown): ProblemMembers {
  const retryAfter = fault instanceof Fault ? fault.retryAfter : undefined
  const edgeSays = saidIn(fault)
  return {
    ...(fault instanceof Problem && fault.members),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(edgeSays !== undefined && { edgeSays }),
  }
}

function codeOf(action: RunAction, fault: unknown): ErrorCode {
  if (fault instanceof Problem) return fault.code
  if (action === 'renew' && fault instanceof IssueFault) return 'certificate_unavailable'
  if (fault instanceof Fault && fault.code) return fault.code
  return FAILED[action]
}

const FAILED: Record<RunAction, ErrorCode> = {
  apply: 'apply_failed',
  update: 'apply_failed',
  remove: 'remove_failed',
  repair: 'repair_failed',
  accept: 'accept_failed',
  renew: 'renew_failed',
  // No caller waits for a converge: only the log tells it.
  converge: 'internal_error',
}
