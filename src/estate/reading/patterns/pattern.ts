import { RE2JS, RE2JSException } from 're2js'
import { asCharacters, asText, type Translated, translate, UnknownSyntax } from './translate.ts'

/** By number and by name. The first is the whole match. */
export type Captures = ReadonlyMap<string, string>

/** `unknown`: the pattern has syntax that is not supported here, or needs too much work. */
type MatchResult = { readonly isMatch: true; readonly captures: Captures } | { readonly isMatch: false } | 'unknown'

/** How much work is left for one question: instructions times characters. A step takes at most 0.1 microseconds, and mostly much less. */
export interface Steps {
  left: number
}

export interface Pattern {
  match(text: string, steps: Steps): MatchResult
}

/** One question takes at most some ten milliseconds for any number of patterns. */
const STEPS_PER_QUESTION = 1_000_000
/** Thousands of questions of one reading together take at most a few seconds. */
const STEPS_PER_READING = 100_000_000

/** The work of all questions of one reading. After the budget is used up, every answer is `unknown`. */
export class StepBudget {
  #left: number

  constructor(steps = STEPS_PER_READING) {
    this.#left = steps
  }

  /** Answers one question within the remaining budget. */
  ask<T>(question: (steps: Steps) => T): T {
    const given = Math.max(0, Math.min(STEPS_PER_QUESTION, this.#left))
    const steps = { left: given }
    const answer = question(steps)
    this.#left -= given - Math.max(0, steps.left)
    return answer
  }
}

const NO_MATCH = { isMatch: false } as const

interface Compiled extends Omit<Translated, 'source'> {
  readonly expression: RE2JS
}

/** The maximum number of instructions of all cached expressions together. Further expressions are compiled for each match. */
const MAX_KEPT = 1_000_000
const kept = { instructions: 0 }

/** A PCRE pattern of nginx. It is compiled when it is first used. */
export function pattern(source: string, isCaseless: boolean): Pattern {
  let compiled: Compiled | 'unknown' | undefined
  return {
    match(text, steps) {
      if (steps.left <= 0) return 'unknown'
      const present = compiled ?? compile(source, isCaseless)
      const size = present === 'unknown' ? 0 : present.expression.programSize()
      if (!compiled) steps.left -= source.length + size
      if (present === 'unknown') {
        compiled = present
        return 'unknown'
      }
      if (!compiled && kept.instructions + size < MAX_KEPT) {
        kept.instructions += size
        collected.register(this, size)
        compiled = present
      }
      steps.left -= size * (text.length + 1)
      return steps.left < 0 ? 'unknown' : resultOf(present, asCharacters(text))
    },
  }
}

const collected = new FinalizationRegistry<number>((instructions) => {
  kept.instructions -= instructions
})

function compile(pcre: string, isCaseless: boolean): Compiled | 'unknown' {
  try {
    const { source, ...rest } = translate(pcre)
    return { expression: RE2JS.compile(source, isCaseless ? RE2JS.CASE_INSENSITIVE : 0), ...rest }
  } catch (error) {
    if (error instanceof UnknownSyntax || error instanceof RE2JSException) return 'unknown'
    throw error
  }
}

/**
 * `$` also matches before a newline at the end. In that case the text without the newline is matched, too. If both texts match, the
 * result is `unknown`.
 */
function resultOf({ expression, isExact, hasEnd }: Compiled, characters: string): MatchResult {
  const texts = hasEnd && characters.endsWith('\n') ? [characters, characters.slice(0, -1)] : [characters]
  const [match, other] = texts.map((text) => expression.matcher(text)).filter((matcher) => matcher.find())
  if (!match) return NO_MATCH
  if (!isExact || other) return 'unknown'
  const captures = new Map<string, string>()
  for (let group = 0; group <= expression.groupCount(); group += 1)
    captures.set(String(group), asText(match.group(group) ?? ''))
  for (const [name, group] of Object.entries(expression.namedGroups()))
    captures.set(name.toLowerCase(), captures.get(String(group)) ?? '')
  return { isMatch: true, captures }
}
