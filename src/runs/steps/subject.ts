import type { CertificateInventory, ChallengeType } from '../../certificates/contract.ts'
import type { Plan } from '../../model/exposure.ts'
import type { ChosenCertificate, Receipt } from '../../model/receipt.ts'
import {
  type RunAction,
  STEPS_TO_ACCEPT,
  STEPS_TO_CONVERGE,
  STEPS_TO_REMOVE,
  STEPS_TO_RENEW,
  type StepName,
} from '../../model/run.ts'
import { stepsToRepair } from '../../plan/steps.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Exposure, ExposureStore } from '../../store/ports/exposures.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { Carried } from '../engine/begin.ts'

/** What a run changes, and its steps in order. */
export type RunSubject = HostSubject | CertificateSubject | EdgeSubject

export type HostAction = Exclude<RunAction, 'renew' | 'converge'>

/** One host, as a plan says. */
export interface HostSubject {
  readonly kind: 'host'
  readonly action: HostAction
  readonly plan: Plan
  /** The receipt of the exposure that the run changes. Undefined for an apply. */
  readonly receipt: Receipt | undefined
  /** The applied plan that an update replaces. */
  readonly former: Plan | undefined
  readonly steps: readonly StepName[]
}

/** One certificate, and all hosts that are served with it. */
export interface CertificateSubject {
  readonly kind: 'certificate'
  /** The certificate in use. */
  readonly inUse: ChosenCertificate | undefined
  /** The host for which a new certificate is chosen or ordered, and its zone. */
  readonly host: string
  readonly zone: string
  readonly members: readonly Member[]
  readonly steps: readonly StepName[]
}

/** One edge that is out of sync with the store. */
export interface EdgeSubject {
  readonly kind: 'edge'
  readonly server: string
  /** The exposures that the edge shall serve. */
  readonly members: readonly Member[]
  /** The hosts that the edge shall not serve any more, and the plans of their entries. */
  readonly removes: readonly string[]
  readonly removedPlans: Readonly<Record<string, string>>
  readonly steps: readonly StepName[]
}

/** An exposure that a run has claimed. */
export interface Member {
  readonly host: string
  readonly planId: string
  readonly receipt: Receipt
}

export interface SubjectParts {
  readonly store: Pick<ExposureStore, 'findExposure' | 'exposuresOf'> & Pick<PlanStore, 'findPlan'>
  readonly inventory: Pick<CertificateInventory, 'withFingerprint' | 'covering'>
  readonly challenge: ChallengeType
  readonly clock: Clock
}

export async function subjectOf(parts: SubjectParts, { plan, run, task }: Carried): Promise<RunSubject> {
  const { store } = parts
  const { action, runId } = run
  if (action === 'converge') {
    const { edge: server = '', removes = [], removedPlans = {} } = task
    const members = membersIn(await store.exposuresOf(runId))
    return { kind: 'edge', server, members, removes, removedPlans, steps: STEPS_TO_CONVERGE }
  }
  const { host } = plan
  if (action === 'renew') {
    const [exposure, claimed] = await Promise.all([store.findExposure(host), store.exposuresOf(runId)])
    const inUse = exposure?.receipt?.certificate
    const { zone } = plan.request
    return { kind: 'certificate', inUse, host, zone, members: membersIn(claimed), steps: STEPS_TO_RENEW }
  }
  // The removal of a plan that once replaced another one has nothing to do with that other plan.
  const replaces = action === 'update' ? plan.request.replaces : undefined
  const [exposure, former] = await Promise.all([
    store.findExposure(host),
    replaces === undefined ? undefined : store.findPlan(replaces),
  ])
  const steps = task.steps ?? FIXED_STEPS[action] ?? plan.steps
  return { kind: 'host', action, plan, receipt: exposure?.receipt, former, steps }
}

/** The steps of actions for which they do not depend on the plan. */
const FIXED_STEPS: Partial<Record<HostAction, readonly StepName[]>> = {
  remove: STEPS_TO_REMOVE,
  accept: STEPS_TO_ACCEPT,
}

const membersIn = (claimed: readonly Exposure[]): readonly Member[] =>
  claimed.flatMap(({ host, planId, receipt }) => (receipt ? [{ host, planId, receipt }] : []))

/** The steps of a repair now. It orders a certificate only if that of the host is gone and no other one covers the host. */
export async function stepsOfRepair(
  { store, inventory, challenge, clock }: SubjectParts,
  { host, request }: Plan,
): Promise<readonly StepName[]> {
  const used = (await store.findExposure(host))?.receipt?.certificate?.fingerprint
  const present = used === undefined ? undefined : await inventory.withFingerprint(used)
  const isThere = present !== undefined && present.notAfter.getTime() > clock.now()
  const orders = request.tls && !isThere && !(await inventory.covering(host, clock.now()))
  return stepsToRepair(request.tls, orders, challenge)
}
