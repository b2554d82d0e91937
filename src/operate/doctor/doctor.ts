import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import type { Edge } from '../../edge/contract.ts'
import { type ExaminedAgent, type ExaminedEdge, examineAgent, examineEdge } from './edges.ts'
import { type Finding, ok, warning } from './finding.ts'
import { type ExaminedStore, examineFolder, examineReadable, examineStore } from './folders.ts'
import { examineListener, type Listener } from './ports.ts'
import { type ExaminedZone, examineAuthority, examineInventory, examineZone } from './zones.ts'

/** Everything that doctor checks. The checks change nothing. */
export interface DoctorParts {
  readonly stateDir: string
  readonly certificateFolders: readonly string[]
  readonly store: ExaminedStore
  readonly edges: readonly ExaminedEdge[]
  readonly agents: readonly ExaminedAgent[]
  readonly secondary: { readonly server: string; readonly edge: Edge | undefined } | undefined
  readonly zones: readonly ExaminedZone[]
  readonly directory: AcmeDirectory
  readonly inventory: CertificateInventory
  readonly now: () => number
  readonly listeners: readonly Listener[]
}

export async function examine(parts: DoctorParts): Promise<Finding[]> {
  const found = await Promise.all([
    examineFolder({ subject: 'state folder', path: parts.stateDir, mode: 0o700 }),
    examineStore(parts.store),
    ...parts.edges.map(examineEdge),
    ...parts.agents.map(examineAgent),
    examineSecondary(parts.secondary),
    ...parts.zones.map(examineZone),
    examineAuthority(parts.directory),
    ...parts.certificateFolders.map((folder) => examineReadable('certificates', folder)),
    examineInventory(parts.inventory, parts.now()),
  ])
  // Last and one by one: finding the owner of a port reads /proc synchronously and blocks everything else.
  const listeners: Finding[] = []
  for (const listener of parts.listeners) listeners.push(await examineListener(listener))
  return [...found.flat(), ...listeners]
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
async function examineSecondary(secondary: DoctorParts['secondary']): Promise<Finding[]> {
  if (!secondary) return []
  const { server, edge } = secondary
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
  ]
}
