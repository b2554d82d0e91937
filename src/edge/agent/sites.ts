import type { NamedFinding } from '../../model/options/adoption.ts'
import { LONGEST_DIRECTIVE, MOST_FINDINGS } from '../wire/site-shapes.ts'
import type { Answered, Asked } from '../wire/verbs.ts'
import type { AgentMachine } from './machine.ts'

interface SitesParts {
  readonly machine: Pick<AgentMachine, 'findSite'>
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
    const { machine, adopts } = this.#parts
    const site = await machine.findSite(host, targets)
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
}

/** What does not fit into a message is counted in its last finding. */
function bounded(findings: readonly NamedFinding[]) {
  const left = findings.length - (MOST_FINDINGS - 1)
  const told = left > 1 ? findings.slice(0, MOST_FINDINGS - 1) : findings
  return [
    ...told.map(({ directive, sentence }) => ({ directive: directive.slice(0, LONGEST_DIRECTIVE), sentence })),
    ...(left > 1 ? [{ directive: '…', sentence: `${left} more are not told.` }] : []),
  ]
}
