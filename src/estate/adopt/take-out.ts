import { readFileSync } from 'node:fs'
import { Tokens } from '../reading/text/tokens.ts'
import type { SiteDirective } from './site-text.ts'
import { type Sites, serversOf } from './sites.ts'

/** The files of a site without its server blocks. A null text: nothing else is in the file, so it is removed. */
export type TakenOut = ReadonlyMap<string, string | null>

/** The files without the blocks of a host, or the reason why the blocks cannot be taken out. */
export function takeOut(host: string, sites: Sites, main: string): TakenOut | { readonly refused: string } {
  const blocks = serversOf(host, sites)
  if (blocks.some(({ path }) => path === main)) return { refused: 'Its server block stands in the main file of nginx.' }
  if (new Set(blocks.map(({ path, start }) => `${path} ${start}`)).size < blocks.length)
    return { refused: 'Its file is included more than once.' }
  const files = Map.groupBy(blocks, ({ path }) => path)
  return new Map([...files].map(([path, own]) => [path, withoutBlocks(readFileSync(path, 'utf8'), own)]))
}

/** The text without the blocks. Removes lines that become empty. Null if no directive is left. */
export function withoutBlocks(text: string, blocks: readonly Pick<SiteDirective, 'start' | 'end'>[]): string | null {
  const rest = blocks
    .toSorted((a, b) => b.start - a.start)
    .reduce((left, { start, end }) => {
      const lineStart = left.lastIndexOf('\n', start - 1) + 1
      const lineEnd = left.indexOf('\n', end)
      const isAlone =
        left.slice(lineStart, start).trim() === '' && /^\s*$/.test(left.slice(end, lineEnd < 0 ? undefined : lineEnd))
      if (!isAlone) return left.slice(0, start) + left.slice(end)
      return left.slice(0, lineStart) + (lineEnd < 0 ? '' : left.slice(lineEnd + 1))
    }, text)
  return new Tokens(rest).next() ? rest : null
}
