/** In the order in which a whole run measures them: the first page, then small labs first. */
export const PARTS = ['apply', 'plan', 'edge', 'concurrent', 'reads', 'monitor', 'scale', 'serve'] as const
/** Not in a whole run, because they take too long: the figures of docs/scale.md, the stretches of the event loop, 990 hosts by 16 callers. */
const EXTRA_PARTS = ['model', 'stretches', 'adding'] as const

export type PartName = (typeof PARTS)[number] | (typeof EXTRA_PARTS)[number]

export interface Order {
  readonly parts: readonly PartName[]
  /** Measure this commit beside the present version, and nothing else. */
  readonly compare?: string
  /** Small sizes, only to see that everything works. Its figures mean nothing. */
  readonly isShort: boolean
  /** Whether the table is written to docs/benchmarks.md: only that of a whole run in full size. */
  readonly isWritten: boolean
}

/** Undefined when the arguments name no known part. */
export function parseArguments(args: readonly string[]): Order | undefined {
  const isShort = args.includes('--short')
  const names = args.filter((argument) => argument !== '--short')
  const [first, commit, ...more] = names
  if (first === 'compare' && commit !== undefined && more.length === 0)
    return { parts: [], compare: commit, isShort, isWritten: false }
  if (!names.every(isPart)) return undefined
  return { parts: names.length > 0 ? names : PARTS, isShort, isWritten: names.length === 0 && !isShort }
}

const isPart = (name: string): name is PartName => [...PARTS, ...EXTRA_PARTS].some((part) => part === name)

export const USAGE = `Usage: npm run bench -- [${[...PARTS, ...EXTRA_PARTS].join('|')}] [--short]\n       npm run bench -- compare COMMIT`
