import type { InstalledCertificate } from '../../certificates/contract.ts'
import { type Edge, EdgeFault, type EdgeFile } from '../../edge/contract.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import type { Afters, Receipt } from '../../model/receipt.ts'
import type { RunAction, StepName } from '../../model/run.ts'
import type { BackupShelf } from '../backup-shelf.ts'
import { type Step, StepFault } from '../engine/step.ts'
import { hashIn, hashOf } from '../file-hash.ts'
import { certificateStep, chosen, edgeResponder } from './certificate.ts'
import { contextOf, issues, type RunSubject, type StepContext, type StepParts, siteOf } from './context.ts'
import { convergeStep } from './converge.ts'
import { claimNameStep, releaseMarkStep, releaseNameStep, repairNameStep } from './dns.ts'
import { absent, proxyStep } from './proxy.ts'
import { isBetter, namesToRenew, renewalTarget, tidyStep } from './renew.ts'
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
    dns: ({ plan, records, dns, task }) => repairNameStep(plan.host, records, task.overwrite ?? false, dns),
    'proxy-tls': secureStep,
    verify: verdictStep,
    tidy: ({ parts, run, proxy }) => tidyStep(run.runId, parts, proxy),
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
    tidy: ({ parts, run, proxy }) => tidyStep(run.runId, parts, proxy),
  },
  converge: { proxy: intoStep },
}

function intoStep({ parts, run, primary, task, members, guard, pairOf, proxy }: StepContext): Step {
  const edge = [primary, parts.secondary].find((one) => one?.server === task.edge)
  if (!edge) throw new Problem('unavailable', `Edge ${task.edge} is not configured any more.`)
  return convergeStep({
    edge,
    isPrimary: edge === primary,
    members,
    removes: task.removes,
    guard,
    isAlone: () => parts.isAlone(run.runId),
    pairOf,
    reached: proxy.reached,
    findPlan: parts.findPlan,
  })
}

/** Whether the entry is written without TLS first, because the certificate is ordered through it. */
const servesPlainFirst = ({ names }: StepContext): boolean => names.includes('proxy-tls')

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

function verdictStep({ run, primary, records, judge, first, dns, proxy: { secondary } }: StepContext): Step {
  // A certificate is served whatever the names of its hosts lead to.
  const readBack: typeof dns.readBack = run.action === 'renew' ? async () => 'yes' : dns.readBack
  return verifyStep(records, { primary, secondary, judge, first: () => first.answer, readBack })
}

function chooseCertificate(context: StepContext): Step {
  const { parts, plan, run, primary, provider, proxy, receipt } = context
  const { host } = plan
  const { zone } = plan.request
  const challengesOnPrimary = () =>
    edgeResponder({
      edge: primary,
      guard: proxy.guard,
      rendered: async (challenges) => {
        const served = siteOf(context.former ?? plan)
        const inUse = servesPlainFirst(context) ? undefined : receipt?.certificate
        const certificate = inUse && (await parts.loadPair(inUse))
        const files = await primary.filesFor({ ...served, challenges, certificate })
        return receipt && !servesPlainFirst(context) && !challenges
          ? asApplied(files, receipt, host, parts.shelf)
          : files
      },
      ...(receipt && { written: receipt.files }),
    })
  return certificateStep({
    ...parts,
    installed: () => installedFor(context),
    guard: context.guard,
    responder: parts.challenge === 'dns-01' ? parts.dnsResponder(zone, provider) : challengesOnPrimary(),
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
  const { inventory, now } = parts
  const inUse = receipt?.certificate
  if (run.action === 'repair' && inUse) {
    const present = await inventory.withFingerprint(inUse.fingerprint)
    if (present && present.notAfter.getTime() > now()) return present
  }
  const covering = await inventory.covering(plan.host, now())
  if (run.action !== 'renew' || !inUse || (covering && isBetter(covering, inUse))) return covering
  if (task.orders) return undefined
  const present = await inventory.withFingerprint(inUse.fingerprint)
  if (present) return present
  throw new StepFault(`The certificate of ${plan.host} is in none of the folders.`, { untouched: true })
}

/** Repeats the checks of the plan. Starts what does not depend on them: the backup and an early `nginx -t`. */
function checkStep(context: StepContext): Step {
  const { parts, plan, primary, backup, secureFiles } = context
  const { tls } = plan.request
  /** The files that the proxy step will write, as far as they are known before the certificate step. */
  const expectedFiles = async () => {
    const covering = tls ? await parts.inventory.covering(plan.host, parts.now()) : undefined
    const files = await secureFiles(primary, covering ? { certificate: chosen(covering, 'installed') } : {})
    return [...files, ...(await takenOut(primary, context))]
  }
  return {
    name: 'check',
    before: async () => null,
    do: async () => {
      if (tls) await primary.assertNoDebugLog()
      if (!issues(plan)) await primary.tryOut(await expectedFiles())
      backup.begin()
      await parts.recheck(plan)
      return null
    },
    undo: async () => {
      await Promise.all([primary.forgetTried(), backup.abandon()])
    },
  }
}

/** Makes the edges serve a host that they do not serve yet. */
function serveStep(context: StepContext): ReturnType<typeof proxyStep> {
  const { plan, proxy, plainFiles, secureFiles } = context
  const entry = servesPlainFirst(context) ? plainFiles : secureFiles
  const serve = proxyStep(proxy, {
    name: 'proxy',
    ours: async () => [],
    wanted: async (edge, afters) => [...(await entry(edge, afters)), ...(await takenOut(edge, context))],
    former: async () => [],
    isRestored: async (edge) => !(await serves(edge, plan)),
  })
  if (!plan.request.adopt) return serve
  return {
    ...serve,
    do: async (...given) => {
      const { files } = await serve.do(...given)
      // The receipt says what a removal removes. The record of the site stays: it is the backup of its files.
      const records = (await takenOut(context.primary, context)).map(({ path }) => path)
      return { files: files.filter(({ path }) => !records.includes(path)) }
    },
  }
}

/** What takes the hand-written site of the host out of its files. The Primary's must be the one that the plan has seen. */
async function takenOut(edge: Edge, { plan, primary }: StepContext): Promise<readonly EdgeFile[]> {
  const { adopt } = plan.request
  if (!adopt) return []
  return edge.takenOut(plan.host, plan.planId, edge === primary ? adopt.text : undefined).catch((error: unknown) => {
    // A site that cannot be taken out now could be when the plan was made.
    if (!(error instanceof EdgeFault) || !['changed_meanwhile', 'change_invalid'].includes(error.kind)) throw error
    throw new StepFault(error.message, { untouched: true, code: 'plan_stale', cause: error })
  })
}

/** http-01: adds TLS to a host that is served without it. */
function secureStep({ proxy, plainFiles, secureFiles }: StepContext): Step {
  return proxyStep(proxy, {
    name: 'proxy-tls',
    ours: async (edge) => (await plainFiles(edge)).map(hashOf),
    wanted: secureFiles,
    former: plainFiles,
    isRestored: async () => false,
  })
}

/** Changes the entry of a host that the edges serve, in one reload: every request meets the former entry or the new one. */
function changeStep(context: StepContext): Step {
  const { primary, proxy, receipt, former, plan, secureFiles, formerFiles, backedUp } = context
  return proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary ? receipt?.files : undefined),
    wanted: secureFiles,
    former: async (edge, afters) => {
      const rendered = formerFiles(edge)
      if (edge !== primary) return rendered
      return [...(await rendered.catch(() => [])), ...(await backedUp(afters))]
    },
    // A former plan of the first version has no proof, so its own answer cannot tell it from the new entry.
    isRestored: async (edge) => !(await serves(edge, plan)) && serves(edge, former ?? plan),
  })
}

/** Removes the entry of the host from the edges. */
function takeAwayStep({ plan, receipt, primary, proxy, formerFiles, backedUp }: StepContext): Step {
  // After a crash in the middle of a removal only the receipt knows all files of the host.
  const written = receipt?.files ?? []
  const takeAway = proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary && written.length > 0 ? written : undefined),
    wanted: async (edge) =>
      byPath([...written.map(({ path }) => absent(path)), ...(await edge.filesWithout(plan.host))]),
    former: async (edge, afters) => {
      const rendered = formerFiles(edge)
      if (edge !== primary) return rendered
      return [...(await rendered.catch(() => [])), ...(await backedUp(afters))]
    },
    isRestored: (edge) => serves(edge, plan),
  })
  return endingAfter(takeAway, async () => proxy.secondary?.report())
}

/** Writes the entry of an applied host again. What stood there is put back if the repair fails. */
function repairStep(context: StepContext): ReturnType<typeof proxyStep> {
  const { task, receipt, primary, proxy, plainFiles, secureFiles, formerFiles, backedUp } = context
  const repair = proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary && !task.overwrite ? receipt?.files : undefined),
    wanted: servesPlainFirst(context) ? plainFiles : secureFiles,
    former: (edge, afters) => (edge === primary ? backedUp(afters) : formerFiles(edge)),
    // What nginx cannot load was not running before either.
    isRestored: (edge) =>
      edge.assertValid().then(
        () => false,
        () => true,
      ),
    refusal: 'changed_elsewhere',
    replacesLinks: true,
    mends: true,
  })
  return {
    ...repair,
    do: async (...given) => {
      if (!task.overwrite) await assertUneditedOnSecondary(context)
      return repair.do(...given)
    },
  }
}

/** Refuses to overwrite what somebody edited on the Secondary. An entry of another plan there is not an edit: it is behind. */
async function assertUneditedOnSecondary({ parts, plan, receipt, formerFiles }: StepContext): Promise<void> {
  const { secondary, standings } = parts
  if (!secondary || !receipt || standings.unfit(secondary.server)) return
  const entry = (await secondary.list()).find(({ host }) => host === plan.host)
  if (entry?.planId !== plan.planId || !entry.isInLayout) return
  const wanted = (await formerFiles(secondary).catch(() => [])).filter(({ path }) => !secondary.isCertificateFile(path))
  const found = await secondary.hashFiles(wanted.map(({ path }) => path))
  const edited = wanted.filter((file, at) => found[at]?.hash !== null && found[at]?.hash !== hashOf(file).hash)
  if (edited.length === 0) return
  const paths = edited.map(({ path }) => path).join(', ')
  throw new StepFault(`${paths} on edge ${secondary.server} was changed outside Drawbridge. It was not overwritten.`, {
    untouched: true,
    code: 'changed_elsewhere',
  })
}

/** Moves the entry of a host, as it stands, out of our folder. nginx goes on serving it. */
function releaseStep(context: StepContext): ReturnType<typeof proxyStep> {
  const { plan, receipt, pairOf, primary, proxy, formerFiles, backedUp } = context
  const { host } = plan
  const { certificate } = receipt ?? {}
  const pair = async () => certificate && pairOf(certificate).catch(() => undefined)
  const release = proxyStep(proxy, {
    name: 'proxy',
    ours: async () => undefined,
    wanted: async (edge) => [...(await edge.filesWithout(host)), ...(await edge.releasedFiles(host, await pair()))],
    former: (edge, afters) => (edge === primary ? backedUp(afters) : formerFiles(edge)),
    // The released entry answers as the former one did.
    isRestored: (edge) => serves(edge, plan),
    replacesLinks: true,
  })
  return {
    ...release,
    do: async (...given) => {
      const before = await primary.handshake(host)
      const { files } = await release.do(...given)
      await proxy.secondary?.report()
      const after = await primary.handshake(host)
      const released = files.some(({ hash }) => hash !== null) ? await primary.releasedPath(host) : undefined
      // Without an entry nothing was served but what nginx had still in memory.
      if (released === undefined) return { files }
      if (before.kind === 'certificate' && !(after.kind === 'certificate' && after.fingerprint === before.fingerprint))
        throw new StepFault(`The released entry of ${host} does not show the certificate that was served before.`)
      return { files, released }
    },
  }
}

/** Whether the edge serves the entry of this plan. */
async function serves(edge: Edge, { host, proof }: Plan): Promise<boolean> {
  const answer = await edge.ask({ host, path: '/', tls: false, proof })
  return answer.kind === 'answer' && answer.entry !== 'other'
}

/** The same step. `other` starts when the step starts and is not awaited. */
const startingBeside = (step: Step, other: (afters: Afters) => void): Step => ({
  ...step,
  do: (before, afters, note) => {
    other(afters)
    return step.do(before, afters, note)
  },
})

/** The same step. It is done only after `other` has ended as well. */
const endingAfter = (step: Step, other: () => Promise<unknown> | undefined): Step => ({
  ...step,
  do: async (...given) => {
    const after = await step.do(...given)
    await other()
    return after
  },
})

/**
 * The files of an applied host exactly as its receipt says, where the host's newest backup holds them: an earlier version
 * may have rendered them otherwise, and what is put back must be what was applied.
 */
async function asApplied(
  rendered: readonly EdgeFile[],
  { files }: Receipt,
  host: string,
  shelf: BackupShelf,
): Promise<readonly EdgeFile[]> {
  const newest = (await shelf.list()).find((manifest) => manifest.host === host)
  const kept = newest ? await shelf.load(newest.runId) : []
  const isApplied = (file: EdgeFile) => hashOf(file).hash === hashIn(files, file.path)
  return rendered.map((file) => kept.find((copy) => copy.path === file.path && isApplied(copy)) ?? file)
}

/** One file for each path: the last one given. */
const byPath = (files: readonly EdgeFile[]): EdgeFile[] => [...new Map(files.map((file) => [file.path, file])).values()]
