/** In the order in which a whole run measures them: small labs first. */
export const PARTS = ['plan', 'apply', 'edge', 'concurrent', 'reads', 'monitor', 'scale', 'serve'] as const
/** Not in a whole run, because they take too long: the figures of docs/scale.md, and the stretches of the event loop. */
const EXTRA_PARTS = ['model', 'stretches'] as const

export type PartName = (typeof PARTS)[number] | (typeof EXTRA_PARTS)[number]

export interface Order {
  readonly parts: readonly PartName[]
  /** Small sizes, only to see that everything works. Its figures mean nothing. */
  readonly isShort: boolean
  /** Whether the table is written to docs/benchmarks.md: only that of a whole run in full size. */
  readonly isWritten: boolean
}

/** Undefined when the arguments name no known part. */
export function parseArguments(args: readonly string[]): Order | undefined {
  const isShort = args.includes('--short')
  const names = args.filter((argument) => argument !== '--short')
  if (!names.every(isPart)) return undefined
  return { parts: names.length > 0 ? names : PARTS, isShort, isWritten: names.length === 0 && !isShort }
}

const isPart = (name: string): name is PartName => [...PARTS, ...EXTRA_PARTS].some((part) => part === name)

export const USAGE = `Usage: npm run bench -- [${[...PARTS, ...EXTRA_PARTS].join('|')}] [--short]`
