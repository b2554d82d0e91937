import { CLASSES } from './bytes.ts'
import type { Program } from './program.ts'
import type { Assertion } from './syntax.ts'

/** How much work is left for one question. A step takes well under a microsecond. */
export interface Steps {
  left: number
}

/** The starts and ends of the groups; -1 for a group without a match. */
type Slots = readonly number[]

interface Thread {
  readonly at: number
  readonly slots: Slots
}

/**
 * The first match that PCRE would find, in time that is linear in the length of the text: all alternatives advance together, in the
 * order of their priority. Null: no match. Undefined: no steps were left.
 */
export function run(program: Program, text: Uint8Array, steps: Steps, from?: number): Slots | null | undefined {
  let current: Thread[] = []
  let found: Slots | null = null
  const none: Slots = new Array<number>(program.slots).fill(-1)
  for (let at = from ?? 0; at <= text.length; at += 1) {
    const seen = new Uint8Array(program.code.length)
    const threads: Thread[] = []
    for (const thread of current) {
      const result = follow(program, thread, { text, at, steps, seen, threads })
      if (result === undefined) return undefined
      if (result) {
        found = result
        // What comes after has a lower priority.
        break
      }
    }
    const mayBegin = found === null && (from === undefined || at === from)
    if (mayBegin) {
      const slots = [...none]
      slots[0] = at
      const result = follow(program, { at: 0, slots }, { text, at, steps, seen, threads })
      if (result === undefined) return undefined
      if (result) found = result
    }
    current = advanced(program, threads, text[at])
    if (current.length === 0 && (found !== null || from !== undefined)) return found
  }
  return found
}

function advanced({ code }: Program, threads: readonly Thread[], byte: number | undefined): Thread[] {
  if (byte === undefined) return []
  return threads.flatMap(({ at, slots }) => {
    const instruction = code[at]
    return instruction?.op === 'set' && instruction.set[byte] === 1 ? [{ at: at + 1, slots }] : []
  })
}

interface Place {
  readonly text: Uint8Array
  readonly at: number
  readonly steps: Steps
  /** The instructions that a thread with a higher priority has reached at this place. */
  readonly seen: Uint8Array
  /** Those that wait for the next byte, in the order of their priority. */
  readonly threads: Thread[]
}

/** Runs a thread up to the instructions that take a byte. The slots of a match; null without one. Undefined: no steps were left. */
function follow(program: Program, begun: Thread, { text, at, steps, seen, threads }: Place): Slots | null | undefined {
  const stack: Thread[] = [begun]
  for (let thread = stack.pop(); thread; thread = stack.pop()) {
    steps.left -= 1
    if (steps.left < 0) return undefined
    const { at: index, slots } = thread
    if (seen[index]) continue
    seen[index] = 1
    const instruction = program.code[index]
    switch (instruction?.op) {
      case 'set':
        threads.push(thread)
        break
      case 'split':
        stack.push({ at: instruction.second, slots }, { at: instruction.first, slots })
        break
      case 'jump':
        stack.push({ at: instruction.to, slots })
        break
      case 'save':
        stack.push({ at: index + 1, slots: slots.with(instruction.slot, at) })
        break
      case 'assert':
        if (holds(instruction.what, text, at)) stack.push({ at: index + 1, slots })
        break
      case 'look': {
        const result = run(instruction.program, text, steps, at)
        if (result === undefined) return undefined
        if ((result === null) !== instruction.isNegated) break
        stack.push({
          at: index + 1,
          slots: result ? slots.map((slot, i) => (i > 1 && result[i] !== -1 ? (result[i] ?? slot) : slot)) : slots,
        })
        break
      }
      default:
        return slots.with(1, at)
    }
  }
  return null
}

const isWord = (byte: number | undefined): boolean => byte !== undefined && CLASSES.w?.[byte] === 1

function holds(what: Assertion, text: Uint8Array, at: number): boolean {
  switch (what) {
    case 'start':
      return at === 0
    case 'lineStart':
      return at === 0 || (text[at - 1] === 10 && at < text.length)
    case 'end':
      return at === text.length || (at === text.length - 1 && text[at] === 10)
    case 'lineEnd':
      return at === text.length || text[at] === 10
    case 'veryEnd':
      return at === text.length
    case 'wordEdge':
      return isWord(text[at - 1]) !== isWord(text[at])
    case 'notWordEdge':
      return isWord(text[at - 1]) === isWord(text[at])
  }
}
