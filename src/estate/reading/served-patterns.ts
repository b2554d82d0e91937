import type { BrokenPlace, ServedPattern } from '../../edge/served.ts'
import type { Slices } from '../../primitives/slices.ts'
import type { ServerDraft } from './text/statements.ts'
import { hostInServerName } from './text/written-names.ts'

/** A person has no use for a longer list, and hostile files may have any number of patterns. */
const MOST = 1_000

/** `cut`: the place of the first pattern that is not listed. */
export interface ServedPatterns {
  readonly patterns: readonly ServedPattern[]
  readonly cut: readonly BrokenPlace[]
}

/**
 * The wildcards and patterns among the names of server blocks. They are not host names, so no call can name one: they are only
 * listed.
 */
export async function servedPatterns(servers: readonly ServerDraft[], slices: Slices): Promise<ServedPatterns> {
  const found: ServedPattern[] = []
  for (const { names, path: configPath, line, listen } of servers) {
    const tls = listen.some(({ isTls }) => isTls)
    for (const [index, name] of names.entries()) {
      const kind = kindOf(name)
      if (kind && found.length === MOST) return { patterns: found, cut: [{ path: configPath, line, sentence: CUT }] }
      if (kind) found.push({ name, kind, configPath, line, tls })
      if (index % 256 === 255 && slices.isOver) await slices.next()
    }
    if (slices.isOver) await slices.next()
  }
  return { patterns: found, cut: [] }
}

const CUT = 'too many wildcards and patterns; the rest is not listed'

function kindOf(name: string): ServedPattern['kind'] | undefined {
  if (name.startsWith('~')) return hostInServerName(name) === undefined ? 'pattern' : undefined
  return name.includes('*') || name.startsWith('.') ? 'wildcard' : undefined
}
