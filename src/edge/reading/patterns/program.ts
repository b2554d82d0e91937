import { type Assertion, type Node, type ParsedPattern, UnknownSyntax } from './syntax.ts'

/** One instruction. Without a jump the next one follows. */
type Instruction =
  | { readonly op: 'set'; readonly set: Uint8Array }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'look'; readonly program: Program; readonly isNegated: boolean }
  | { readonly op: 'match' }

export interface Program {
  readonly code: readonly Instruction[]
  /** Two for each group: its start and its end. The first two are those of the whole match. */
  readonly slots: number
  readonly names: ReadonlyMap<string, number>
  readonly isExact: boolean
}

/** Repetitions are written out, so a short pattern may need many instructions. */
const MAX_INSTRUCTIONS = 10_000
/** A repetition of nothing needs no instruction, and takes time all the same. */
const MAX_ROUNDS = 20_000

/** Throws UnknownSyntax for a pattern that needs too many instructions. */
export function compile({ root, groups, isExact }: ParsedPattern): Program {
  const names = new Map<string, number>()
  const count = { left: MAX_INSTRUCTIONS, rounds: MAX_ROUNDS }
  return { code: new Writer(names, groups, count).whole(root), slots: 2 * (groups + 1), names, isExact }
}

interface Count {
  left: number
  rounds: number
}

class Writer {
  readonly #code: Instruction[] = []
  readonly #names: Map<string, number>
  readonly #groups: number
  readonly #count: Count

  constructor(names: Map<string, number>, groups: number, count: Count) {
    this.#names = names
    this.#groups = groups
    this.#count = count
  }

  whole(node: Node): readonly Instruction[] {
    this.#write(node)
    this.#add({ op: 'match' })
    return this.#code
  }

  #add<I extends Instruction>(instruction: I): I {
    this.#count.left -= 1
    if (this.#count.left < 0) throw new UnknownSyntax()
    this.#code.push(instruction)
    return instruction
  }

  #write(node: Node): void {
    switch (node.kind) {
      case 'set':
        this.#add({ op: 'set', set: node.set })
        break
      case 'sequence':
        for (const part of node.parts) this.#write(part)
        break
      case 'choice':
        this.#choice(node.options)
        break
      case 'group':
        if (node.name !== undefined) this.#names.set(node.name, node.number)
        this.#add({ op: 'save', slot: 2 * node.number })
        this.#write(node.part)
        this.#add({ op: 'save', slot: 2 * node.number + 1 })
        break
      case 'repeat':
        this.#repeat(node)
        break
      case 'assert':
        this.#add({ op: 'assert', what: node.what })
        break
      case 'look': {
        const code = new Writer(this.#names, this.#groups, this.#count).whole(node.part)
        const program = { code, slots: 2 * (this.#groups + 1), names: this.#names, isExact: true }
        this.#add({ op: 'look', program, isNegated: node.isNegated })
      }
    }
  }

  #choice(options: readonly Node[]): void {
    const jumps: { to: number }[] = []
    for (const [index, option] of options.entries()) {
      if (index === options.length - 1) {
        this.#write(option)
        break
      }
      const split = this.#add({ op: 'split', first: this.#code.length + 1, second: 0 })
      this.#write(option)
      jumps.push(this.#add({ op: 'jump', to: 0 }))
      split.second = this.#code.length
    }
    for (const jump of jumps) jump.to = this.#code.length
  }

  #repeat({ part, least, most, isLazy }: Extract<Node, { kind: 'repeat' }>): void {
    for (let i = 0; i < least; i += 1) this.#round(part)
    if (most === Number.POSITIVE_INFINITY) {
      const start = this.#code.length
      const split = this.#split(isLazy)
      this.#write(part)
      this.#add({ op: 'jump', to: start })
      split(this.#code.length)
      return
    }
    const ends: ((end: number) => void)[] = []
    for (let i = least; i < most; i += 1) {
      ends.push(this.#split(isLazy))
      this.#round(part)
    }
    for (const end of ends) end(this.#code.length)
  }

  #round(part: Node): void {
    this.#count.rounds -= 1
    if (this.#count.rounds < 0) throw new UnknownSyntax()
    this.#write(part)
  }

  /** Into the part that follows, or to an end that is not known yet. */
  #split(isLazy: boolean): (end: number) => void {
    const split = this.#add({ op: 'split', first: this.#code.length + 1, second: this.#code.length + 1 })
    return (end) => {
      if (isLazy) split.first = end
      else split.second = end
    }
  }
}
