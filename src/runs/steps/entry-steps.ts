import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { ListedHost } from '../../edge/contract/list.ts'
import type { Plan } from '../../model/exposure.ts'
import { type Step, StepFault } from '../engine/step.ts'
import type { HostContext } from './context.ts'
import { isStopped } from './edge-answers.ts'
import { editedSince, hostOn } from './listed-host.ts'
import { type ProxyStep, type ProxyTarget, proxyStep, type Wish } from './proxy.ts'

/** Whether the entry is written without TLS first, because the certificate is ordered through it. */
const servesPlainFirst = ({ steps }: HostContext): boolean => steps.includes('proxy-tls')

/** Makes the edges serve a host that they do not serve yet. */
export function serveStep(context: HostContext): Step {
  const { plan, proxy, primary } = context
  const { host } = plan
  const { adopt } = plan.request
  const takesOver = (edge: Edge) => adopt && { plan: plan.planId, ...(edge === primary && { text: adopt.text }) }
  return adopting(
    context,
    proxyStep(proxy, {
      name: 'proxy',
      hosts: [host],
      ...(adopt && { takesOver: { plan: plan.planId } }),
      isRestored: async (edge) => (await hostOn(edge, host)).revision === null && !(await serves(edge, plan)),
      wishes: async (edge, afters) => [
        {
          host,
          expected: 'absent',
          wanted: await context.entryFor(edge, plan, servesPlainFirst(context) ? undefined : afters.certificate),
          ...(adopt && { takesOver: takesOver(edge) }),
        },
      ],
    }),
  )
}

/** The plan is stale if its site cannot be adopted any more. */
function adopting({ plan }: HostContext, step: Step): Step {
  if (!plan.request.adopt) return step
  return {
    ...step,
    do: (...given) =>
      step.do(...given).catch((error: unknown) => {
        const fault = error instanceof StepFault ? error.cause : error
        if (!(fault instanceof EdgeFault) || !['changed_meanwhile', 'change_invalid'].includes(fault.kind)) throw error
        throw new StepFault(fault.message, { untouched: true, code: 'plan_stale', cause: fault })
      }),
  }
}

/** http-01: adds TLS to a host that is served without it. */
export function secureStep({ plan, proxy, entryFor }: HostContext): Step {
  return proxyStep(proxy, {
    name: 'proxy-tls',
    hosts: [plan.host],
    wishes: async (edge, { certificate }) => [
      { host: plan.host, expected: 'any', wanted: await entryFor(edge, plan, certificate) },
    ],
    // The DNS name is removed after this undo and leads to the edge until then, so the host stays served without TLS.
    undone: async (edge) => {
      const { entry } = await hostOn(edge, plan.host)
      return entry?.plan === plan.planId
        ? [{ host: plan.host, expected: 'any', wanted: await entryFor(edge, plan, undefined) }]
        : []
    },
  })
}

/** Changes the entry of a host that the edges serve, in one reload: every request meets the former entry or the new one. */
export function changeStep({ plan, former, proxy, primary, entryFor }: HostContext): Step {
  const { host, planId } = plan
  return proxyStep(proxy, {
    name: 'proxy',
    hosts: [host],
    isRestored: async (edge) =>
      (await hostOn(edge, host)).entry?.plan === former?.planId &&
      !(await serves(edge, plan)) &&
      servesOnceStarted(edge, former ?? plan),
    wishes: async (edge, { certificate }) => {
      const listed = await hostOn(edge, host)
      // The Secondary may have missed changes, so its entry may be of any plan.
      if (edge === primary) assertOfPlan(listed, [planId, former?.planId], edge)
      return [{ host, expected: expectedOf(listed), wanted: await entryFor(edge, plan, certificate) }]
    },
  })
}

/** Removes the entry of the host from the edges. */
export function takeAwayStep({ plan, proxy, primary }: HostContext): Step {
  const { host, planId } = plan
  const takeAway = proxyStep(proxy, {
    name: 'proxy',
    hosts: [host],
    isRestored: (edge) => isAsApplied(edge, plan),
    wishes: async (edge) => {
      const listed = await hostOn(edge, host)
      if (edge === primary) assertOfPlan(listed, [planId], edge)
      // An edit on the Secondary must not keep a removed host in service.
      return [{ host, expected: expectedOf(listed), wanted: 'absent', mend: edge !== primary }]
    },
  })
  return endingAfter(takeAway, async () => proxy.secondary?.report())
}

/** Writes the entry of an applied host again. What stood there is put back if the repair fails. */
export function repairStep(context: HostContext): ProxyStep {
  const { plan, task, receipt, proxy } = context
  const { host } = plan
  const repair = proxyStep(proxy, {
    name: 'proxy',
    hosts: [host],
    refusal: 'changed_elsewhere',
    // Whatever stood before differed from what a repair writes. No answer tells which of the two a running nginx serves.
    isRestored: async (edge) => {
      const { revision, drift } = await hostOn(edge, host)
      return (revision === null || drift.length > 0) && isStopped(edge)
    },
    wishes: async (edge, afters) => {
      const certificate = servesPlainFirst(context) ? undefined : (afters.certificate ?? receipt?.certificate)
      const wanted = await context.entryFor(edge, plan, plan.request.tls ? certificate : undefined)
      return [{ host, expected: 'any', wanted, mend: task.overwrite ?? false }]
    },
  })
  return {
    ...repair,
    do: async (...given) => {
      if (!task.overwrite) await assertUneditedOnSecondary(context)
      return repair.do(...given)
    },
  }
}

/** Refuses to repair what somebody edited on the Secondary. An entry of another plan is not an edit: the Secondary missed a change. */
async function assertUneditedOnSecondary({ parts, plan }: HostContext): Promise<void> {
  const { secondary, standings } = parts
  if (!secondary || standings.unfit(secondary.server)) return
  const { entry, drift } = await hostOn(secondary, plan.host)
  const edited = drift.find(({ found, field }) => found !== 'missing' && field !== 'owner')
  if (entry?.plan !== plan.planId || !edited) return
  throw new StepFault(
    `The entry of ${plan.host} on edge ${secondary.server} was changed outside Drawbridge. It was not overwritten.`,
    { untouched: true, code: 'changed_elsewhere' },
  )
}

/** Moves the entry of a host, as it stands, out of our folder. nginx goes on serving it. */
export function releaseStep({ plan, primary, proxy, task }: HostContext): ProxyStep {
  const { host } = plan
  const target: ProxyTarget = {
    name: 'proxy',
    hosts: [host],
    isRestored: (edge) => isAsApplied(edge, plan),
    wishes: async (edge) => {
      const listed = await hostOn(edge, host)
      if (listed.revision === null) return edge === primary ? [{ host, expected: 'absent', wanted: 'absent' }] : []
      if (edge === primary && task.intact && listed.drift.length > 0) throw editedSince(listed, edge)
      return [{ host, expected: expectedOf(listed), wanted: 'released' }]
    },
  }
  const release = proxyStep(proxy, target)
  return {
    ...release,
    do: async (...given) => {
      const before = await primary.handshake(host)
      const after = await release.do(...given)
      await proxy.secondary?.report()
      // Without an entry nginx served the host only from memory.
      if (!('released' in after)) return after
      const shown = await primary.handshake(host)
      if (before.kind === 'certificate' && !(shown.kind === 'certificate' && shown.fingerprint === before.fingerprint))
        throw new StepFault(`The released entry of ${host} does not show the certificate that was served before.`)
      return after
    },
  }
}

/** Whether the edge serves the entry of this plan. */
async function serves(edge: Edge, { host, proof }: Plan): Promise<boolean> {
  const answer = await edge.ask({ host, path: '/', tls: false, proof })
  return answer.kind === 'answer' && answer.entry !== 'other'
}

/** The same for an entry that stands. */
const servesOnceStarted = async (edge: Edge, plan: Plan): Promise<boolean> =>
  (await serves(edge, plan)) || isStopped(edge)

/** Whether the entry of the plan stands, and is served or will be once nginx starts. */
const isAsApplied = async (edge: Edge, plan: Plan): Promise<boolean> =>
  (await hostOn(edge, plan.host)).entry?.plan === plan.planId && servesOnceStarted(edge, plan)

const expectedOf = ({ revision }: ListedHost): Wish['expected'] => (revision === null ? 'absent' : { revision })

/** Refuses to change the entry of another plan. */
function assertOfPlan({ host, entry }: ListedHost, plans: readonly (string | undefined)[], { server }: Edge): void {
  if (!entry || plans.includes(entry.plan)) return
  throw new StepFault(
    `Edge ${server} has the entry of another plan for ${host} (${entry.plan}). It was not overwritten.`,
    {
      untouched: true,
    },
  )
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
