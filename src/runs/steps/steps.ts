import type { InstalledCertificate } from '../../certificates/contract.ts'
import { Problem } from '../../model/errors.ts'
import type { Afters } from '../../model/receipt.ts'
import type { RunAction, StepName } from '../../model/run.ts'
import { type Step, StepFault } from '../engine/step.ts'
import { certificateStep, edgeResponder } from './certificate.ts'
import { contextOf, type RunSubject, type StepContext, type StepParts } from './context.ts'
import { convergeStep } from './converge.ts'
import { claimNameStep, releaseMarkStep, releaseNameStep, repairNameStep, rewriteMarkStep } from './dns.ts'
import {
  changeStep,
  releaseStep,
  repairStep,
  secureStep,
  serveStep,
  servesPlainFirst,
  takeAwayStep,
} from './entry-steps.ts'
import { proxyStep } from './proxy.ts'
import { isBetter, namesToRenew, renewalTarget } from './renew.ts'
import { verifyStep } from './verify.ts'

/** The steps of a run, made from their names. */
export function stepsFor(parts: StepParts, subject: RunSubject): readonly Step[] {
  const context = contextOf(parts, subject)
  return subject.names.map((name) => {
    const build = BUILDERS[subject.run.action][name]
    if (!build) throw new Problem('internal_error', `A run of ${subject.run.action} has no step ${name}.`)
    return build(context)
  })
}

/** The one table from the name of a step to its implementation. */
const BUILDERS: Readonly<Record<RunAction, Partial<Record<StepName, (context: StepContext) => Step>>>> = {
  apply: {
    check: checkStep,
    backup: ({ backup }) => backup,
    certificate: chooseCertificate,
    proxy: serveStep,
    dns: claimStep,
    'proxy-tls': secureStep,
    verify: verdictStep,
  },
  update: {
    check: checkStep,
    backup: ({ backup }) => backup,
    certificate: chooseCertificate,
    proxy: changeStep,
    verify: verdictStep,
  },
  remove: {
    backup: ({ backup }) => backup,
    dns: ({ plan, records, dns }) =>
      releaseNameStep(
        plan.host,
        records.filter(({ kept }) => !kept),
        dns,
      ),
    proxy: takeAwayStep,
  },
  repair: {
    backup: ({ backup }) => backup,
    certificate: chooseCertificate,
    proxy: repairStep,
    dns: ({ plan, records, dns, task }) =>
      task.mark === undefined
        ? repairNameStep(plan.host, records, task.overwrite ?? false, dns)
        : rewriteMarkStep(plan.host, records, task.mark, dns),
    'proxy-tls': secureStep,
    verify: verdictStep,
  },
  accept: {
    backup: ({ backup }) => backup,
    proxy: releaseStep,
    dns: ({ plan, records, dns }) => releaseMarkStep(plan.host, records, dns),
  },
  renew: {
    backup: ({ backup }) => backup,
    certificate: chooseCertificate,
    proxy: ({ proxy, ...context }) => proxyStep(proxy, renewalTarget(context)),
    verify: verdictStep,
  },
  converge: { proxy: intoStep },
}

function intoStep({ parts, primary, task, members, guard, entryFor, proxy }: StepContext): Step {
  const edge = [primary, parts.secondary].find((one) => one?.server === task.edge)
  if (!edge) throw new Problem('unavailable', `Edge ${task.edge} is not configured any more.`)
  const { removes, removedPlans } = task
  const { findPlan } = parts
  return convergeStep({ edge, members, removes, removedPlans, guard, entryFor, reached: proxy.reached, findPlan })
}

function claimStep(context: StepContext): Step {
  const { plan, records, dns, judge, primary, first } = context
  const claim = claimNameStep(plan.host, records, dns)
  if (servesPlainFirst(context)) return claim
  // The edge's answer does not depend on the DNS name, so the edge is asked while the name is claimed.
  return startingBeside(claim, (afters) => {
    first.answer = judge(primary, afters)
    first.answer.catch(() => undefined)
  })
}

function verdictStep({ parts, run, primary, records, judge, first, dns, proxy: { secondary } }: StepContext): Step {
  // A certificate is served whatever the names of its hosts lead to.
  const readBack: typeof dns.readBack = run.action === 'renew' ? async () => 'yes' : dns.readBack
  return verifyStep(records, { primary, secondary, judge, first: () => first.answer, readBack, clock: parts.clock })
}

function chooseCertificate(context: StepContext): Step {
  const { parts, plan, run, primary, provider, receipt } = context
  const { host } = plan
  const { zone } = plan.request
  return certificateStep({
    ...parts,
    installed: () => installedFor(context),
    guard: context.guard,
    responder:
      parts.challenge === 'dns-01' ? parts.dnsResponder(zone, provider) : edgeResponder(primary, context.guard),
    names:
      run.action === 'renew' && receipt?.certificate
        ? namesToRenew(host, receipt.certificate, parts.certificateNames(zone, host), parts.challenge)
        : parts.certificateNames(zone, host),
    replaces: context.task.replaces,
    holdOrder: (names, work) => parts.edgeLock.holdOrder(names, work),
    challengeSet: () => parts.crashPoint(`${run.action} certificate challenge-set`),
  })
}

/** The installed certificate that the run uses. Undefined where one has to be ordered. */
async function installedFor({
  parts,
  plan,
  run,
  task,
  receipt,
}: StepContext): Promise<InstalledCertificate | undefined> {
  const { inventory, clock } = parts
  const inUse = receipt?.certificate
  if (run.action === 'repair' && inUse) {
    const present = await inventory.withFingerprint(inUse.fingerprint)
    if (present && present.notAfter.getTime() > clock.now()) return present
  }
  const covering = await inventory.covering(plan.host, clock.now())
  if (run.action !== 'renew' || !inUse || (covering && isBetter(covering, inUse))) return covering
  if (task.orders) return undefined
  const present = await inventory.withFingerprint(inUse.fingerprint)
  if (present) return present
  throw new StepFault(`The certificate of ${plan.host} is in none of the folders.`, { untouched: true })
}

/** Repeats the checks of the plan. Starts what does not depend on them: the backup. */
function checkStep({ parts, plan, primary, backup }: StepContext): Step {
  return {
    name: 'check',
    before: async () => null,
    do: async () => {
      if (plan.request.tls) await primary.assertNoDebugLog()
      backup.begin()
      await parts.recheck(plan)
      return null
    },
    undo: () => backup.abandon(),
  }
}

/** The same step. `other` starts when the step starts and is not awaited. */
const startingBeside = (step: Step, other: (afters: Afters) => void): Step => ({
  ...step,
  do: (before, afters, note) => {
    other(afters)
    return step.do(before, afters, note)
  },
})
