import type { ServerMatch } from '../../../edge/served.ts'
import { type Pattern, StepBudget } from '../patterns/pattern.ts'

type NameKind = Exclude<ServerMatch['how'], 'default'>

export interface NameMatch<T> {
  /** `unknown`: the pattern of this value cannot be evaluated and may match. No pattern before it matches. */
  readonly how: NameKind
  readonly value: T
}

/**
 * Finds names in nginx's order: the exact name, the longest `*.x`, the longest `x.*`, the first matching pattern. Of two equal
 * names the first counts and the second is ignored.
 */
export class NameIndex<T> {
  readonly #exact = new Map<string, T>()
  /** The key of `*.example.test` is `.example.test`. It does not match `example.test` itself. */
  readonly #leading = new Map<string, T>()
  readonly #trailing = new Map<string, T>()
  readonly #patterns: { readonly pattern: Pattern; readonly value: T }[] = []
  /** The bare names of ignored `.x` names. nginx ignores a later server with such a name, too. */
  readonly #blocked = new Set<string>()

  /** A name or wildcard in lower case. False when it is a duplicate or invalid. */
  add(name: string, value: T): boolean {
    if (name.startsWith('.') && name.length > 1) return this.#addWithSubdomains(name, value)
    if (name.startsWith('*.') && name.length > 2) return this.#addWildcard(this.#leading, name.slice(1), value)
    if (name.endsWith('.*') && name.length > 2) return this.#addWildcard(this.#trailing, name.slice(0, -1), value)
    return !name.includes('*') && this.addExact(name, value)
  }

  addExact(name: string, value: T): boolean {
    if (this.#isTaken(name)) return false
    this.#exact.set(name, value)
    return true
  }

  addPattern(pattern: Pattern, value: T): void {
    this.#patterns.push({ pattern, value })
  }

  exact(name: string): T | undefined {
    return this.#exact.get(name)
  }

  /** `asked`: the name in its original case, for patterns. `budget`: the budget of the current reading. Default: a new one. */
  find(name: string, asked = name, budget = new StepBudget()): NameMatch<T> | undefined {
    const exact = this.#exact.get(name)
    if (exact !== undefined) return { how: 'exact', value: exact }
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const value = this.#leading.get(name.slice(dot))
      if (value !== undefined) return { how: 'leading_wildcard', value }
    }
    for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
      const value = this.#trailing.get(name.slice(0, dot + 1))
      if (value !== undefined) return { how: 'trailing_wildcard', value }
    }
    if (this.#patterns.length === 0) return undefined
    return budget.ask((steps) => {
      for (const { pattern, value } of this.#patterns) {
        const result = pattern.match(asked, steps)
        if (result === 'unknown') return { how: 'unknown' as const, value }
        if (result.isMatch) return { how: 'regex' as const, value }
      }
      return undefined
    })
  }

  exactNames(): IterableIterator<[string, T]> {
    return this.#exact.entries()
  }

  /** `.example.test` adds both `example.test` and `*.example.test`, or neither. */
  #addWithSubdomains(name: string, value: T): boolean {
    const bare = name.slice(1)
    if (this.#isTaken(bare)) return false
    if (this.#addWildcard(this.#leading, name, value)) return this.addExact(bare, value)
    this.#blocked.add(bare)
    return false
  }

  #addWildcard(kept: Map<string, T>, key: string, value: T): boolean {
    if (kept.has(key) || key.includes('*')) return false
    kept.set(key, value)
    return true
  }

  #isTaken(name: string): boolean {
    return this.#exact.has(name) || this.#blocked.has(name)
  }
}
