import type { Edge } from '../edge/contract.ts'
import type { Plan } from '../model/exposure.ts'
import type { Exposure, Store } from '../store/contract.ts'
import { inUse } from './renewal/in-use.ts'
import type { Held } from './steps/dns.ts'
import { appliedFiles, recordsOf, type StepParts } from './steps.ts'

/** One way in which the world differs from what was applied. Told, never touched. */
export interface Drift {
  readonly host: string
  readonly what: 'dns' | 'file' | 'not_served'
  readonly sentence: string
}

type Eyes = Pick<StepParts, 'primary' | 'look'>
type SweepParts = Eyes & { readonly store: Store }

/** Compares every applied exposure with DNS, the Primary's files and what its nginx serves. */
export async function sweep(parts: SweepParts): Promise<readonly Drift[]> {
  const exposures = (await parts.store.listExposures()).filter(({ state }) => state === 'applied')
  const drifts: Drift[] = []
  for (const exposure of exposures) {
    const plan = await parts.store.findPlan(exposure.planId)
    if (plan) drifts.push(...(await driftOf(exposure, plan, parts)))
  }
  return drifts
}

/** Whether DNS serves what was applied, and which of the Primary's files are not what was applied. */
export async function compareWithApplied(
  exposure: Exposure,
  plan: Plan,
  { primary, look }: Eyes,
): Promise<{ readonly held: Held; readonly edited: readonly string[] }> {
  const [held, edited] = await Promise.all([
    look(plan.request.zone, recordsOf(plan)),
    primary ? editedFiles(primary, exposure) : [],
  ])
  return { held, edited }
}

async function driftOf(exposure: Exposure, plan: Plan, eyes: Eyes): Promise<Drift[]> {
  const { host } = exposure
  const [{ held, edited }, answer] = await Promise.all([
    compareWithApplied(exposure, plan, eyes),
    eyes.primary?.ask({ host, path: '/', tls: false }),
  ])
  return [
    ...(held === 'yes'
      ? []
      : [{ host, what: 'dns' as const, sentence: `The DNS server does not serve what was applied (${held}).` }]),
    ...edited.map((path) => ({ host, what: 'file' as const, sentence: `${path} is not what was applied.` })),
    ...(answer?.kind === 'no_answer'
      ? [{ host, what: 'not_served' as const, sentence: `The Primary does not serve the host (${answer.reason}).` }]
      : []),
  ]
}

/** While a certificate is being replaced its files are neither what was applied nor anybody's edit. */
async function editedFiles(edge: Edge, exposure: Exposure): Promise<string[]> {
  const isReplacing = inUse(exposure)?.intent !== undefined
  const applied = appliedFiles(exposure.receipt).filter(({ path }) => !(isReplacing && edge.isOfCertificate(path)))
  const now = await edge.look(applied.map(({ path }) => path))
  return applied
    .filter(({ path, hash }) => now.find((file) => file.path === path)?.hash !== hash)
    .map(({ path }) => path)
}
