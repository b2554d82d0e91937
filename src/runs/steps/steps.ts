import type { InstalledCertificate } from '../../certificates/contract.ts'
import { leased } from '../../dns/contract.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import type { RunGuard, StepName } from '../../model/run.ts'
import type { Carried } from '../engine/begin.ts'
import { type Step, StepFault } from '../engine/step.ts'
import { backupStep } from './backup.ts'
import { type CertificateParts, certificateStep, edgeResponder } from './certificate.ts'
import {
  type CertificateContext,
  certificateContext,
  contextOf,
  type HostContext,
  hostContext,
  providerOf,
  type StepContext,
  type StepParts,
} from './context.ts'
import { convergeStep } from './converge.ts'
import { claimNameStep, releaseMarkStep, releaseNameStep, repairNameStep, rewriteMarkStep } from './dns.ts'
import { assertRunning } from './edge-answers.ts'
import { changeStep, releaseStep, repairStep, secureStep, serveStep, takeAwayStep } from './entry-steps.ts'
import { proxyStep } from './proxy.ts'
import { isBetter, namesToRenew, renewalTarget } from './renew.ts'
import { type EdgeSubject, type HostAction, type RunSubject, subjectOf } from './subject.ts'
import { verifyStep } from './verify.ts'

/** The steps of a run, the same every time. */
export async function stepsFor(parts: StepParts, carried: Carried, guard: RunGuard): Promise<readonly Step[]> {
  const subject = await subjectOf(parts, carried)
  const build = builderFor(subject, contextOf(parts, carried, guard))
  return subject.steps.map((name) => {
    const step = build(name)
    if (!step) throw new Problem('internal_error', `A run of ${carried.run.action} has no step ${name}.`)
    return step
  })
}

function builderFor(subject: RunSubject, shared: StepContext): (name: StepName) => Step | undefined {
  if (subject.kind === 'host') {
    const context = hostContext(shared, subject)
    return (name) => HOST_STEPS[subject.action][name]?.(context)
  }
  if (subject.kind === 'certificate') {
    const context = certificateContext(shared, subject)
    return (name) => CERTIFICATE_STEPS[name]?.(context)
  }
  return (name) => (name === 'proxy' ? syncStep(shared, subject) : undefined)
}

type Builders<Context> = Readonly<Partial<Record<StepName, (context: Context) => Step>>>

/** From the name of a step to its implementation, for runs of one host. */
const HOST_STEPS: Readonly<Record<HostAction, Builders<HostContext>>> = {
  apply: {
    check: checkStep,
    backup: backupOfHost,
    certificate: chooseCertificate,
    proxy: serveStep,
    dns: ({ plan, records, dns }) => claimNameStep(plan.host, records, dns),
    'proxy-tls': secureStep,
    verify: verdictOfHost,
  },
  update: {
    check: checkStep,
    backup: backupOfHost,
    certificate: chooseCertificate,
    proxy: changeStep,
    verify: verdictOfHost,
  },
  remove: {
    backup: backupOfHost,
    dns: ({ plan, records, dns }) =>
      releaseNameStep(
        plan.host,
        records.filter(({ kept }) => !kept),
        dns,
      ),
    proxy: takeAwayStep,
  },
  repair: {
    backup: backupOfHost,
    certificate: chooseCertificate,
    proxy: repairStep,
    dns: ({ plan, records, dns, task }) =>
      task.mark === undefined
        ? repairNameStep(plan.host, records, task.overwrite ?? false, dns)
        : rewriteMarkStep(plan.host, records, task.mark, dns),
    'proxy-tls': secureStep,
    verify: verdictOfHost,
  },
  accept: {
    backup: backupOfHost,
    proxy: releaseStep,
    dns: ({ plan, records, dns }) => releaseMarkStep(plan.host, records, dns),
  },
}

/** The same for the renewal of a certificate. */
const CERTIFICATE_STEPS: Builders<CertificateContext> = {
  backup: ({ parts, run, primary: edge, host, inUse: certificate }) =>
    backupStep({
      ...{ runId: run.runId, host, edge, shelf: parts.shelf, certificate, isIntact: false },
      assertSound: () => assertRunning(edge),
    }),
  certificate: renewCertificate,
  proxy: ({ proxy, ...context }) => proxyStep(proxy, renewalTarget(context)),
  // A certificate is served whatever the names of its hosts lead to.
  verify: ({ parts, primary, judge, proxy: { secondary } }) =>
    verifyStep([], { primary, secondary, judge, readBack: async () => 'yes', clock: parts.clock }),
}

/** The only step of a converge. */
function syncStep({ parts, guard, entryFor, onCrashPoint }: StepContext, subject: EdgeSubject): Step {
  const { server, members, removes, removedPlans } = subject
  const edge = [parts.primary, parts.secondary].find((one) => one?.server === server)
  if (!edge) throw new Problem('unavailable', `Edge ${server} is not configured any more.`)
  const { store } = parts
  return convergeStep({ edge, members, removes, removedPlans, guard, entryFor, onCrashPoint, store })
}

function verdictOfHost({ parts, primary, judge, proxy, records, dns }: HostContext): Step {
  const { secondary } = proxy
  return verifyStep(records, { primary, secondary, judge, readBack: dns.readBack, clock: parts.clock })
}

/** Actions that refuse a file that was edited since it was applied. The others look at each file themselves. */
const KEEPS_EDITS: readonly HostAction[] = ['apply', 'update', 'remove']

/** The proxy step validates the edge before it writes. Steps before it must not act on an edge that is broken. */
function backupOfHost(context: HostContext): Step {
  const { parts, run, task, guard, action, plan, receipt, primary } = context
  const keepsEdits = KEEPS_EDITS.includes(action)
  return backupStep({
    ...{ runId: run.runId, host: plan.host, edge: primary, shelf: parts.shelf, certificate: receipt?.certificate },
    assertSound: async () => {
      // An apply that orders nothing changes the edge first, and can be undone whether nginx runs or not.
      if (action !== 'apply' || orders(plan)) await assertRunning(primary)
      if (action === 'remove' || (keepsEdits && orders(plan))) await primary.assertValid()
      // The DNS name would be gone before the edge says that the host belongs to another store.
      if (action === 'remove')
        await primary.change({
          items: guard.fences.map((fence) => ({ host: fence.host, fence, expected: 'any', wanted: 'same' })),
        })
    },
    isIntact: keepsEdits || (task.intact ?? false),
  })
}

/** Whether the plan orders a certificate. */
const orders = ({ changes }: Plan): boolean =>
  changes.some((change) => change.kind === 'certificate' && change.action === 'issue')

/** Uses an installed certificate that covers the host, or orders one. */
function chooseCertificate(context: HostContext): Step {
  const { parts, plan } = context
  const { zone } = plan.request
  return certificateFor(context, {
    zone,
    installed: () => installedFor(context),
    names: parts.certificateNames(zone, plan.host),
  })
}

/** Uses an installed certificate that is better than the one in use, or orders one. */
function renewCertificate(context: CertificateContext): Step {
  const { parts, task, host, zone, inUse } = context
  const wanted = parts.certificateNames(zone, host)
  return certificateFor(context, {
    zone,
    installed: () => installedInPlace(context),
    names: inUse ? namesToRenew(host, inUse, wanted, parts.challenge) : wanted,
    replaces: task.replaces,
  })
}

interface CertificateChoice extends Pick<CertificateParts, 'installed' | 'names' | 'replaces'> {
  /** The zone in which dns-01 is answered. */
  readonly zone: string
}

function certificateFor(
  { parts, run, guard, primary }: Pick<HostContext, 'parts' | 'run' | 'guard' | 'primary'>,
  { zone, ...choice }: CertificateChoice,
): Step {
  const inZone = () => parts.dnsResponder(zone, leased(providerOf(parts, zone), guard))
  return certificateStep({
    ...choice,
    issuer: parts.issuer,
    guard,
    responder: parts.challenge === 'dns-01' ? inZone() : edgeResponder(primary, guard),
    holdOrder: (names, work) => parts.certificateLock.hold(names, work),
    challengeSet: () => parts.crashPoint(`${run.action} certificate challenge-set`),
  })
}

/** The installed certificate that the host gets. Undefined where one has to be ordered. */
async function installedFor(context: HostContext): Promise<InstalledCertificate | undefined> {
  const { parts, plan, action, receipt } = context
  const { inventory, clock } = parts
  const inUse = receipt?.certificate
  if (action === 'repair' && inUse) {
    const present = await inventory.withFingerprint(inUse.fingerprint)
    if (present && present.notAfter.getTime() > clock.now()) return present
  }
  return inventory.covering(plan.host, clock.now())
}

/** The installed certificate that takes the place of the one in use. Undefined where one has to be ordered. */
async function installedInPlace(context: CertificateContext): Promise<InstalledCertificate | undefined> {
  const { parts, task, host, inUse } = context
  const { inventory, clock } = parts
  const covering = await inventory.covering(host, clock.now())
  if (!inUse || (covering && isBetter(covering, inUse))) return covering
  if (task.orders) return undefined
  const present = await inventory.withFingerprint(inUse.fingerprint)
  if (present) return present
  throw new StepFault(`The certificate of ${host} is in none of the folders.`, { untouched: true })
}

/** Repeats the checks of the plan. */
function checkStep({ parts, plan, primary }: HostContext): Step {
  return {
    name: 'check',
    before: async () => null,
    do: async () => {
      if (plan.request.tls) await primary.assertNoDebugLog()
      await parts.recheck(plan)
      return null
    },
    undo: async () => undefined,
  }
}
