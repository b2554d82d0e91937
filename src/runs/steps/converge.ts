import type { Edge, EdgeFile, SiteCertificate, StandingEntry } from '../../edge/contract.ts'
import type { Plan } from '../../model/exposure.ts'
import type { ChosenCertificate, FileHash } from '../../model/receipt.ts'
import type { RunGuard } from '../../model/run.ts'
import type { Step } from '../engine/step.ts'
import { hashOf } from '../file-hash.ts'
import { siteOf } from './context.ts'
import { digestsOn, isEditedEntry } from './entry-digest.ts'
import type { Member } from './renew.ts'

interface ConvergeParts {
  readonly edge: Edge
  readonly isPrimary: boolean
  readonly members: readonly Member[]
  /** The hosts that go, as far as nobody else changes them. Undefined: those of the run that have no exposure. */
  readonly removes: readonly string[] | undefined
  /** The plans of their entries. Undefined: whatever stands there. */
  readonly removedPlans: Readonly<Record<string, string>> | undefined
  readonly guard: RunGuard
  /** Whether no other run may have to put back what it changed. */
  readonly isAlone: () => Promise<boolean>
  readonly findPlan: (planId: string) => Promise<Plan | undefined>
  readonly pairOf: (certificate: ChosenCertificate) => Promise<SiteCertificate>
  readonly reached: (point: Parameters<NonNullable<Parameters<Edge['change']>[0]['reached']>>[0]) => void
}

/**
 * Brings the hosts of the run into step on one edge, in one generation: those with an exposure as the store says, the others off
 * the edge. A run without hosts takes off the pairs that no host uses. Nothing is undone: an edge that refuses stays as it is, and what a crash interrupted is done again.
 */
export function convergeStep({
  edge,
  isPrimary,
  members,
  removes,
  removedPlans,
  guard,
  isAlone,
  findPlan,
  pairOf,
  reached,
}: ConvergeParts): Step<'proxy', null> {
  const filesOf = async (member: Member, entry: StandingEntry | undefined): Promise<readonly EdgeFile[]> => {
    const { host, planId, receipt } = member
    const plan = await findPlan(planId)
    if (!plan) return []
    const pair = receipt.certificate && (await pairOf(receipt.certificate))
    if (!isPrimary && entry && (await isEditedEntry(edge, entry, receipt, findPlan)))
      return pair && entry.planId === planId ? edge.certificateFiles(host, pair) : []
    return edge.filesFor({ ...siteOf(plan), certificate: pair })
  }
  return {
    name: 'proxy',
    before: async () => null,
    do: async () => {
      const entries: Record<string, readonly FileHash[]> = {}
      const formerTexts: Record<string, string> = {}
      await edge.change({
        ...guard,
        reached,
        propose: async () => {
          const exposed = new Set(members.map(({ host }) => host))
          const orphans = guard.fences
            .map(({ host }) => host)
            .filter((host) => !exposed.has(host) && (removes?.includes(host) ?? true))
          const standing = new Map((await edge.list()).map((entry) => [entry.host, entry]))
          // What another plan has put there since it was found stays.
          const named = orphans.filter((host) => !removedPlans || standing.get(host)?.planId === removedPlans[host])
          const files: EdgeFile[] = (await Promise.all(named.map((host) => edge.filesWithout(host)))).flat()
          if (members.length + orphans.length === 0 && (await isAlone()))
            files.push(...(await edge.unusedCertificates()))
          for (const member of members) {
            const former = isPrimary ? await formerText(edge, member, findPlan) : undefined
            if (former !== undefined) formerTexts[member.host] = former
            const own = await filesOf(member, standing.get(member.host))
            entries[member.host] = own.map(hashOf)
            files.push(...own)
          }
          const wanted = [...new Map(files.map((file) => [file.path, file])).values()]
          return { files: wanted, expected: await edge.hashFiles(wanted.map(({ path }) => path)) }
        },
      })
      // Receipts tell of the Primary's files.
      return isPrimary ? { files: [], entries, formerTexts } : { files: [] }
    },
    undo: async () => undefined,
  }
}

/** What the Primary had until now, if that is not what it gets. */
async function formerText(
  edge: Edge,
  { planId, receipt }: Member,
  findPlan: ConvergeParts['findPlan'],
): Promise<string | undefined> {
  const plan = await findPlan(planId)
  if (!plan) return undefined
  const { standing, rendered } = await digestsOn(edge, plan, receipt)
  return standing === rendered ? undefined : standing
}
