import { type Captures, pattern, type StepBudget } from '../patterns/pattern.ts'

/** What is known about a path on the disk of the edge. */
export type PathKind = 'file' | 'folder' | 'none' | 'unknown'

export interface Knowledge {
  /** The value of a text with variables. Undefined if it depends on something unknown. */
  value(text: string): string | undefined
  kindOf(path: string): PathKind
  readonly budget: StepBudget
}

/** `captures` of a pattern that matches. */
export type Verdict = { readonly holds: boolean; readonly captures?: Captures } | 'unknown'

/** Whether the condition of an `if` holds. */
export function verdictOf(args: readonly string[], knowledge: Knowledge): Verdict {
  const [first = '', operator, operand = ''] = wordsOf(args)
  if (/^!?-[fdex]$/.test(first)) return fileVerdict(first, operator ?? '', knowledge)
  const value = knowledge.value(first)
  if (value === undefined) return 'unknown'
  if (operator === undefined) return { holds: value !== '' && value !== '0' }
  if (operator === '=' || operator === '!=') {
    const other = knowledge.value(operand)
    return other === undefined ? 'unknown' : { holds: (value === other) === (operator === '=') }
  }
  const [, isNegated, isCaseless] = /^(!?)~(\*?)$/.exec(operator) ?? []
  if (isNegated === undefined) return 'unknown'
  const result = knowledge.budget.ask((steps) => pattern(operand, isCaseless === '*').match(value, steps))
  if (result === 'unknown') return result
  if (isNegated === '!') return { holds: !result.isMatch }
  return result.isMatch ? { holds: true, captures: result.captures } : { holds: false }
}

/** The words without the surrounding brackets, which may be words of their own. */
function wordsOf(args: readonly string[]): string[] {
  const words = [...args]
  const first = words[0] ?? ''
  if (first === '(') words.shift()
  else words[0] = first.replace(/^\(/, '')
  const last = words.pop() ?? ''
  return last === ')' ? words : [...words, last.replace(/\)$/, '')]
}

function fileVerdict(test: string, path: string, { value, kindOf }: Knowledge): Verdict {
  const known = value(path)
  const kind = known === undefined ? 'unknown' : kindOf(known)
  if (kind === 'unknown' || (test.endsWith('x') && kind !== 'none')) return 'unknown'
  const isSo = test.endsWith('f') ? kind === 'file' : test.endsWith('d') ? kind === 'folder' : kind !== 'none'
  return { holds: isSo !== test.startsWith('!') }
}
