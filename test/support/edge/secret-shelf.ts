import type { SecretShelf } from '../../../src/edge/authority/trust.ts'

/** A shelf in memory. */
export function secretShelf(): SecretShelf {
  const kept = new Map<string, string>()
  return {
    read: async (name) => kept.get(name),
    change: async (name, next) => void kept.set(name, next(kept.get(name))),
    putOnce: async (name, text) => {
      if (!kept.has(name)) kept.set(name, text)
      return kept.get(name) ?? ''
    },
  }
}
