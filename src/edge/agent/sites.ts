import type { NamedFinding } from '../../model/options/adoption.ts'
import { findSite, targetAt } from '../adopt/find-site.ts'
import { adoptedFile, isHost } from '../config/layout.ts'
import { type Edge, EdgeFault, type EdgeFile } from '../contract.ts'
import type { EdgeSettings } from '../settings.ts'
import { LONGEST_DIRECTIVE, MOST_FINDINGS } from '../wire/site-shapes.ts'
import type { Answered, Asked } from '../wire/verbs.ts'
import { hasEntry } from './outside-files.ts'

interface SitesParts {
  readonly settings: EdgeSettings
  readonly edge: Pick<Edge, 'takenOut' | 'hashFiles'>
  /** Whether edge.yaml lets hand-written sites be adopted. */
  readonly adopts: boolean
}

/** The hand-written sites of an edge that services may take under management. Closed unless edge.yaml says otherwise. */
export class AgentSites {
  readonly #parts: SitesParts

  constructor(parts: SitesParts) {
    this.#parts = parts
  }

  async find({ host, targets }: Asked<'find-site'>): Promise<Answered<'find-site'>> {
    const { settings, adopts } = this.#parts
    const { ports, named, server } = settings
    const site = await findSite(settings, host, { ports, named, serverAt: targetAt(targets, server) })
    if (!site) return { kind: 'none' }
    if (!adopts) return { kind: 'off' }
    const { backend, tls, options, carried, digest, text } = site
    return {
      kind: 'site',
      ...(backend && { backend: { ...backend } }),
      tls,
      ...(options && { options: JSON.parse(JSON.stringify(options)) }),
      carried,
      changed: bounded(site.changed),
      lost: bounded(site.lost),
      refused: bounded(site.refused),
      digest,
      text,
      blocks: site.blocks.slice(0, MOST_FINDINGS).map(({ file, line }) => ({ file, line })),
    }
  }

  /** What a plan has taken out stays known, also when adopting was turned off since: an undo needs it. */
  async takenOut(host: string, planId: string, expected?: string): Promise<readonly EdgeFile[]> {
    const { edge, settings } = this.#parts
    const records = await edge.takenOut(host, planId, expected)
    if (records.length > 0 && !(await this.#mayTake(planId)))
      throw new EdgeFault('change_invalid', `The site of ${host} stays. ${offOn(settings.server)}`)
    return records
  }

  /**
   * What is wrong with a record that a service sends. It must be the one that this edge makes of the site that stands there, and the
   * same change must bring an entry of the host: nobody may take a site away with nothing in its place.
   */
  async fault(
    planId: string,
    record: string,
    contents: ReadonlyMap<string, string | null>,
  ): Promise<string | undefined> {
    if (!(await this.#mayTake(planId))) return 'edge.yaml does not set adopt.enabled'
    const host = siteHost(record)
    if (host === undefined) return 'It names no host'
    if (!hasEntry(host, contents)) return 'The change has no entry of the host'
    const [own] = await this.#parts.edge.takenOut(host, planId)
    return own?.content === record ? undefined : 'It is not the site that stands on this edge'
  }

  async #mayTake(planId: string): Promise<boolean> {
    if (this.#parts.adopts) return true
    const [standing] = await this.#parts.edge.hashFiles([adoptedFile(planId)])
    return typeof standing?.hash === 'string'
  }
}

const offOn = (server: string) => `Adopting is off on edge ${server}: its edge.yaml does not set adopt.enabled.`

/** What does not fit into a message is counted in its last finding. */
function bounded(findings: readonly NamedFinding[]) {
  const left = findings.length - (MOST_FINDINGS - 1)
  const told = left > 1 ? findings.slice(0, MOST_FINDINGS - 1) : findings
  return [
    ...told.map(({ directive, sentence }) => ({ directive: directive.slice(0, LONGEST_DIRECTIVE), sentence })),
    ...(left > 1 ? [{ directive: '…', sentence: `${left} more are not told.` }] : []),
  ]
}

/** The host that a record of a site names. */
export function siteHost(record: string): string | undefined {
  try {
    const { host } = JSON.parse(record) as { readonly host?: unknown }
    return typeof host === 'string' && isHost(host) ? host : undefined
  } catch {
    return undefined
  }
}
