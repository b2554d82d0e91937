import type { Edge } from '../edge/contract.ts'
import type { Plan } from '../model/exposure.ts'
import type { Exposure } from '../store/contract.ts'
import { inUse } from './renewal/in-use.ts'
import type { Held } from './steps/dns.ts'
import { appliedFiles, recordsOf, type StepParts } from './steps.ts'

/** Whether DNS serves what was applied, and which of the Primary's files are not what was applied. Told, never touched. */
export async function compareWithApplied(
  exposure: Exposure,
  plan: Plan,
  { primary, look }: Pick<StepParts, 'primary' | 'look'>,
): Promise<{ readonly held: Held; readonly edited: readonly string[] }> {
  const [held, edited] = await Promise.all([
    look(plan.request.zone, recordsOf(plan)),
    primary ? editedFiles(primary, exposure) : [],
  ])
  return { held, edited }
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
