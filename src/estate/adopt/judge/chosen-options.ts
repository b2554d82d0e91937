import type { ExposureOptions } from '../../../model/options/grammar.ts'
import { verdictOf } from './directive-table.ts'
import type { SiteDirectives } from './site-directives.ts'
import type { SiteFindings } from './site-findings.ts'
import type { ReadSiteOptions } from './site-options.ts'

/** The options of one server block. `tls`: whether it serves visitors with TLS. */
export interface BlockOptions {
  readonly tls: boolean
  readonly read: ReadSiteOptions
}

interface Judging {
  readonly findings: SiteFindings
  readonly directives: SiteDirectives
  /** Whether the site is served with TLS. */
  readonly tls: boolean
}

/** The options of the site. A block for visitors without TLS beside one with TLS becomes a redirect, which has none. */
export function chosenOptions(
  blocks: readonly BlockOptions[],
  { findings, directives, tls }: Judging,
): ExposureOptions | undefined {
  const [decides, ...others] = blocks.toSorted((a, b) => Number(b.tls) - Number(a.tls))
  if (!decides) return undefined
  const isOther = ({ read }: BlockOptions) =>
    JSON.stringify(read.options) !== JSON.stringify(decides.read.options) && !decides.tls
  for (const other of others.filter(isOther))
    for (const each of other.read.carried) findings.lose(each, 'Another server block of the host has other settings.')
  for (const { carried, changed, unsaid } of [decides, ...others].map(({ read }) => read)) {
    for (const each of carried) findings.carry(each)
    for (const { directive, sentence, told = [] } of changed) findings.change(directive, sentence, ...told)
    for (const each of unsaid) directives.tell(each, verdictOf(each.name))
  }
  const { options } = decides.read
  if (tls || !options?.headers?.hsts) return options
  // Browsers ignore this header without TLS.
  findings.told.add('answer strict-transport-security')
  const { hsts: _, ...headers } = options.headers
  const { headers: __, ...rest } = options
  const left = { ...rest, ...(Object.keys(headers).length > 0 && { headers }) }
  return Object.keys(left).length > 0 ? left : undefined
}
