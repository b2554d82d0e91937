import { type Edge, EdgeFault, type EdgeFile } from '../../edge/contract.ts'
import type { Plan } from '../../model/exposure.ts'
import { type Step, StepFault } from '../engine/step.ts'
import { hashOf } from '../file-hash.ts'
import type { StepContext } from './context.ts'
import { absent, type ProxyTarget, proxyStep } from './proxy.ts'

/** Whether the entry is written without TLS first, because the certificate is ordered through it. */
export const servesPlainFirst = ({ names }: StepContext): boolean => names.includes('proxy-tls')

/** Makes the edges serve a host that they do not serve yet. */
export function serveStep(context: StepContext): ReturnType<typeof proxyStep> {
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
export async function takenOut(edge: Edge, { plan, primary }: StepContext): Promise<readonly EdgeFile[]> {
  const { adopt } = plan.request
  if (!adopt) return []
  return edge.takenOut(plan.host, plan.planId, edge === primary ? adopt.text : undefined).catch((error: unknown) => {
    // A site that cannot be taken out now could be when the plan was made.
    if (!(error instanceof EdgeFault) || !['changed_meanwhile', 'change_invalid'].includes(error.kind)) throw error
    throw new StepFault(error.message, { untouched: true, code: 'plan_stale', cause: error })
  })
}

/** http-01: adds TLS to a host that is served without it. */
export function secureStep({ proxy, plainFiles, secureFiles }: StepContext): Step {
  return proxyStep(proxy, {
    name: 'proxy-tls',
    ours: async (edge) => (await plainFiles(edge)).map(hashOf),
    wanted: secureFiles,
    former: plainFiles,
    isRestored: async () => false,
  })
}

/** Changes the entry of a host that the edges serve, in one reload: every request meets the former entry or the new one. */
export function changeStep(context: StepContext): Step {
  const { primary, proxy, receipt, former, plan, secureFiles } = context
  return proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary ? receipt?.files : undefined),
    wanted: secureFiles,
    former: standingBefore(context),
    // A former plan of the first version has no proof, so its own answer cannot tell it from the new entry.
    isRestored: async (edge) => !(await serves(edge, plan)) && serves(edge, former ?? plan),
  })
}

/** Removes the entry of the host from the edges. */
export function takeAwayStep(context: StepContext): Step {
  const { plan, receipt, primary, proxy, goneFiles } = context
  // After a crash in the middle of a removal only the receipt knows all files of the host.
  const written = receipt?.files ?? []
  const takeAway = proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary && written.length > 0 ? written : undefined),
    wanted: async (edge) => byPath([...written.map(({ path }) => absent(path)), ...(await goneFiles(edge))]),
    former: standingBefore(context),
    isRestored: (edge) => serves(edge, plan),
  })
  return endingAfter(takeAway, async () => proxy.secondary?.report())
}

/** Writes the entry of an applied host again. What stood there is put back if the repair fails. */
export function repairStep(context: StepContext): ReturnType<typeof proxyStep> {
  const { task, receipt, primary, proxy, plainFiles, secureFiles } = context
  const repair = proxyStep(proxy, {
    name: 'proxy',
    ours: async (edge) => (edge === primary && !task.overwrite ? receipt?.files : undefined),
    wanted: servesPlainFirst(context) ? plainFiles : secureFiles,
    former: standingBefore(context),
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
export function releaseStep(context: StepContext): ReturnType<typeof proxyStep> {
  const { plan, receipt, pairOf, primary, proxy, goneFiles } = context
  const { host } = plan
  const { certificate } = receipt ?? {}
  const pair = async () => {
    const found = certificate && (await pairOf(certificate).catch(() => undefined))
    return found?.keyPem === undefined ? undefined : found
  }
  const release = proxyStep(proxy, {
    name: 'proxy',
    ours: async () => undefined,
    wanted: async (edge) => [...(await goneFiles(edge)), ...(await edge.releasedFiles(host, await pair()))],
    former: standingBefore(context),
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

/** What stood before the run: rendered and, on the Primary, as it was backed up. No backup has the keys of an edge behind an agent. */
const standingBefore =
  ({ primary, formerFiles, backedUp }: StepContext): ProxyTarget['former'] =>
  async (edge, afters) => {
    const rendered = formerFiles(edge)
    if (edge !== primary) return rendered
    return [...(await rendered.catch(() => [])), ...(await backedUp(afters))]
  }

/** Whether the edge serves the entry of this plan. */
async function serves(edge: Edge, { host, proof }: Plan): Promise<boolean> {
  const answer = await edge.ask({ host, path: '/', tls: false, proof })
  return answer.kind === 'answer' && answer.entry !== 'other'
}

/** The same step. It is done only after `other` has ended as well. */
const endingAfter = (step: Step, other: () => Promise<unknown> | undefined): Step => ({
  ...step,
  do: async (...given) => {
    const after = await step.do(...given)
    await other()
    return after
  },
})

/** One file for each path: the last one given. */
const byPath = (files: readonly EdgeFile[]): EdgeFile[] => [...new Map(files.map((file) => [file.path, file])).values()]
