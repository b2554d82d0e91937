import { compile, type Program } from './program.ts'
import { run, type Steps } from './run.ts'
import { parsePattern, UnknownSyntax } from './syntax.ts'

/** By number and by name. The first is the whole match. */
export type Captures = ReadonlyMap<string, string>

/** `unknown`: the pattern has syntax that is not evaluated here, or the work for it was too much. */
type MatchResult = { readonly isMatch: true; readonly captures: Captures } | { readonly isMatch: false } | 'unknown'

export interface Pattern {
  match(text: string, steps: Steps): MatchResult
}

/** A question takes at most some ten milliseconds, however many patterns there are. */
const STEPS_PER_QUESTION = 150_000
/** Thousands of questions of one reading together take at most a few seconds. */
const STEPS_PER_READING = 15_000_000

/** The work of all questions of one reading. What is asked after it is used up is `unknown`. */
export class StepBudget {
  #left: number

  constructor(steps = STEPS_PER_READING) {
    this.#left = steps
  }

  /** Answers one question within what is left. */
  ask<T>(question: (steps: Steps) => T): T {
    const given = Math.max(0, Math.min(STEPS_PER_QUESTION, this.#left))
    const steps = { left: given }
    const answer = question(steps)
    this.#left -= given - Math.max(0, steps.left)
    return answer
  }
}

/** All programs that are kept may have this many instructions together. Further ones are compiled for each match. */
const MAX_KEPT = 1_000_000
const kept = { instructions: 0 }

const NO_MATCH = { isMatch: false } as const

/** A PCRE pattern of nginx. It is compiled when it is first used. */
export function pattern(source: string, isCaseless: boolean): Pattern {
  let program: Program | 'unknown' | undefined
  return {
    match(text, steps) {
      if (steps.left <= 0) return 'unknown'
      const compiled = program ?? programOf(source, isCaseless)
      if (!program) steps.left -= source.length + (compiled === 'unknown' ? 0 : compiled.code.length)
      if (compiled === 'unknown') {
        program = compiled
        return 'unknown'
      }
      if (!program && kept.instructions + compiled.code.length < MAX_KEPT) {
        kept.instructions += compiled.code.length
        collected.register(this, compiled.code.length)
        program = compiled
      }
      return resultOf(compiled, text, steps)
    },
  }
}

const collected = new FinalizationRegistry<number>((instructions) => {
  kept.instructions -= instructions
})

function programOf(source: string, isCaseless: boolean): Program | 'unknown' {
  try {
    return compile(parsePattern(Buffer.from(source).toString('latin1'), isCaseless))
  } catch (error) {
    if (error instanceof UnknownSyntax) return 'unknown'
    throw error
  }
}

function resultOf(program: Program, text: string, steps: Steps): MatchResult {
  const bytes = Buffer.from(text)
  const slots = run(program, bytes, steps)
  if (slots === null) return NO_MATCH
  if (slots === undefined || !program.isExact) return 'unknown'
  const captured = (group: number): string => {
    const [start = -1, end = -1] = [slots[2 * group], slots[2 * group + 1]]
    return start < 0 || end < start ? '' : bytes.toString('utf8', start, end)
  }
  const captures = new Map<string, string>()
  for (let group = 0; group < program.slots / 2; group += 1) captures.set(String(group), captured(group))
  for (const [name, group] of program.names) captures.set(name.toLowerCase(), captured(group))
  return { isMatch: true, captures }
}
