import type { Check } from '../../src/model/finding.ts'
import { inFull, took } from '../parts/time.ts'

/** The evidence of a check in a few words: the other members of its answer. */
export function evidenceOf(check: Check): readonly string[] {
  const words: string[] = []
  const say = <T>(value: unknown, isKind: (value: unknown) => value is T, tell: (value: T) => string) => {
    if (isKind(value)) words.push(tell(value))
  }
  say(check.httpStatus, isNumber, (status) => `HTTP ${status}`)
  say(check.latencyMs, isNumber, (ms) => `answered in ${took(ms)}`)
  say(check.types, isTexts, (types) => (types.length > 0 ? `records: ${types.join(', ')}` : 'no record'))
  say(check.at, isText, (at) => `at ${at}`)
  say(check.wildcardTypes, isTexts, (types) => `wildcard: ${types.join(', ')}`)
  say(check.names, isTexts, (names) => `for ${names.join(', ')}`)
  say(check.notAfter, isText, (until) => `valid until ${inFull(until)}`)
  say(check.directory, isText, (directory) => `issued by ${new URL(directory).host}`)
  return words
}

const isNumber = (value: unknown): value is number => typeof value === 'number'
const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)
