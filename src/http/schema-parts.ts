import { Type } from 'typebox'

/** What the schemas of all bodies are made of. */
export const closed = { additionalProperties: false }
export const open = { additionalProperties: true }

export const oneOf = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })
