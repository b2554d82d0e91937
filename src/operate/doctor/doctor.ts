import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import { type ComparedEdge, hostsOutOfStep } from '../../model/host-status.ts'
import { clauseOf } from '../../primitives/clause.ts'
import { CONFIRM_REMOVAL } from '../../runs/sync-task.ts'
import { fullDisks } from '../../runtime/disk.ts'
import { type ExaminedAgent, type ExaminedEdge, examineAgent, examineEdge } from './edges.ts'
import { type Finding, fault, ok, warning } from './finding.ts'
import { type ExaminedStore, examineFolder, examineReadable, examineStore, isThere } from './folders.ts'
import { examineListener, type Listener, Sockets } from './ports.ts'
import { type ExaminedZone, examineAuthority, examineInventory, examineZone } from './zones.ts'

/** Everything that doctor checks. The checks change nothing. */
export interface DoctorParts {
  readonly stateDir: string
  readonly certificateFolders: readonly string[]
  readonly store: ExaminedStore
  readonly edges: readonly ExaminedEdge[]
  readonly agents: readonly ExaminedAgent[]
  readonly secondary: ExaminedSecondary | undefined
  readonly zones: readonly ExaminedZone[]
  readonly directory: AcmeDirectory
  readonly inventory: CertificateInventory
  readonly now: () => number
  readonly listeners: readonly Listener[]
}

interface ExaminedSecondary {
  readonly server: string
  readonly edge: Edge | undefined
  /** Compares it with the store. Undefined where there is no store to compare with. */
  readonly compare: () => Promise<(ComparedEdge & { readonly since: number | undefined }) | undefined>
}

export async function examine(parts: DoctorParts): Promise<Finding[]> {
  const found = await Promise.all([
    examineFolder({ subject: 'state folder', path: parts.stateDir, mode: 0o700 }),
    examineSpace(parts),
    examineStore(parts.store),
    ...parts.edges.map(examineEdge),
    ...parts.agents.map(examineAgent),
    examineSecondary(parts.secondary, parts.store),
    ...parts.zones.map(examineZone),
    examineAuthority(parts.directory),
    ...parts.certificateFolders.map((folder) => examineReadable('certificates', folder)),
    examineInventory(parts.inventory, parts.now()),
  ])
  // Last and one by one: finding the owner of a port reads /proc synchronously and blocks everything else.
  const listeners: Finding[] = []
  const sockets = new Sockets()
  for (const listener of parts.listeners) listeners.push(await examineListener(listener, sockets))
  return [...found.flat(), ...listeners]
}

async function examineSpace({ stateDir, edges }: Pick<DoctorParts, 'stateDir' | 'edges'>): Promise<Finding[]> {
  const full = await fullDisks([stateDir, ...edges.map(({ folder }) => folder)])
  return full.map((sentence) => fault('disk', sentence, 'Free space there. The service goes on by itself.'))
}

/** Applies the safe fixes and returns a line for each. The next check finds again what could not be fixed. */
export function repair(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ repair: act, fix }) => {
    if (!act) return []
    try {
      act()
      return [`Done: ${fix}`]
    } catch (error) {
      return [`Not done: ${fix} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`]
    }
  })
}

/** The Secondary is optional, so its problems are warnings. */
async function examineSecondary(secondary: DoctorParts['secondary'], store: ExaminedStore): Promise<Finding[]> {
  if (!secondary) return []
  const { server, edge, compare } = secondary
  const subject = `secondary ${server}`
  if (!edge) {
    return [
      warning(
        subject,
        'No edge is configured for the Secondary.',
        'Add its nginx or its agent to edges, or set servers.secondary to none.',
      ),
    ]
  }
  const answer = await edge.ask({ host: 'nobody.invalid', path: '/', tls: false })
  const silent = answer.kind === 'no_answer' && answer.reason !== 'unknown_host' && answer.reason !== 'not_http'
  return [
    silent
      ? warning(
          subject,
          `The Secondary does not answer (${answer.reason}).`,
          'Start its nginx. Until then hosts have only one edge.',
        )
      : ok(subject, 'The Secondary answers.'),
    ...(isThere(store) ? await examineStep(subject, compare) : []),
  ]
}

async function examineStep(subject: string, compare: ExaminedSecondary['compare']): Promise<Finding[]> {
  try {
    const compared = await compare()
    return compared ? [stepFinding(subject, compared)] : []
  } catch (error) {
    const fix = 'Check that the folder of the Secondary can be read.'
    return [warning(subject, `The Secondary could not be compared with the store: ${clauseOf(error)}.`, fix)]
  }
}

function stepFinding(subject: string, compared: ComparedEdge & { readonly since: number | undefined }): Finding {
  const { behind, orphans, doubtful, unknown, since } = compared
  const parts = [
    [behind.length, 'missing or different'],
    [orphans.length, 'to be removed'],
    [doubtful.length, 'of plans that have ended, though no run of this store has removed them'],
    [unknown.length, 'that this store does not know'],
  ] as const
  const said = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])).join(', ')
  if (said === '') return ok(subject, 'The Secondary is in step with the store.')
  const missing = since === undefined ? '' : ` The oldest missing change is of ${new Date(since).toISOString()}.`
  const sentence = `The Secondary is not in step with the store. Hosts: ${said}.${missing}`
  if (doubtful.length > 0) return warning(subject, sentence, `If these hosts shall go, run: ${CONFIRM_REMOVAL}`)
  if (hostsOutOfStep(compared) === 0)
    return warning(subject, sentence, 'See whether the store is the right one. These hosts are never changed.')
  return warning(subject, sentence, 'Fix what this command says about its edge. The service then brings it into step.')
}
