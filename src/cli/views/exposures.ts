import type { Screen } from '../../terminal/screen.ts'
import type { Act, Comparison } from '../file/exposures.ts'
import type { Refused } from '../file/foreseen.ts'

/** What would be created, changed in place and removed. `prunes`: whether what is not in the file would be removed. */
export function comparisonLines(
  { create, change, surplus, over, same }: Comparison,
  prunes: boolean,
  screen: Screen,
): string[] {
  const lines = [
    ...create.map(({ host, server, port, health, tls }) => {
      const what = `server ${server}, port ${port}, health ${health}, ${tls ? 'https' : 'http'}`
      return `${screen.paint('good', '+')} ${host}  ${what}`
    }),
    ...change.map(({ wanted, fields }) => {
      const what = fields.map(({ field, from, to }) => `${field} ${from} → ${to}`).join(', ')
      return `${screen.paint('careful', '~')} ${wanted.host}  ${what}`
    }),
    ...surplus.map(({ host }) =>
      prunes ? `${screen.paint('bad', '-')} ${host}` : `  ${host}  is not in the file and stays; --prune removes it`,
    ),
    ...over.map(({ host }) => `  ${host}  has ended according to the file and is not created`),
  ]
  const counts = `${create.length} to create, ${change.length} to change, ${prunes ? surplus.length : 0} to remove, ${same} the same.`
  return [...lines, counts]
}

const REFUSED = { create: 'exposed', change: 'changed', remove: 'removed' } as const

/** What the service would refuse, and what to do about it. */
export const refusedLines = (refused: readonly Refused[], screen: Screen): string[] =>
  refused.map(({ verb, host, detail, nextAction }) =>
    [
      `${screen.paint('bad', '!')} ${host}  cannot be ${REFUSED[verb]}: ${detail}`,
      ...(nextAction ? [nextAction] : []),
    ].join(' '),
  )

const DONE = { create: 'Exposed', change: 'Changed', remove: 'Removed' } as const

export const doneLine = ({ verb, host }: Act): string => `${DONE[verb]}: ${host}`
