import { join } from 'node:path'
import { numbersIn } from '../../edge/engine/unsettled.ts'
import { CURRENT, GENERATIONS } from '../../edge/layout.ts'
import { statAt, targetAt } from './seen-files.ts'

/**
 * The generation that was entered last. `named`: by the base file. The link is written after the base file, and before it on the way
 * back, so it never names a newer generation. If it does, somebody has restored an older base file: the hosts since must not be lost.
 * If neither names one that is kept, it is the newest. Undefined before the first generation.
 */
export function enteredNumber(edgeFolder: string, named: number | undefined): number | undefined {
  const told = [named, linkedNumber(edgeFolder)].filter((number) => number !== undefined)
  const kept = told.filter((number) => isKept(edgeFolder, number))
  const numbers = kept.length > 0 ? kept : numbersIn(join(edgeFolder, GENERATIONS))
  return numbers.length === 0 ? undefined : Math.max(...numbers)
}

/** The generation that the link for people names. */
export function linkedNumber(edgeFolder: string): number | undefined {
  const [, number] = /^generations\/(\d+)$/.exec(targetAt(join(edgeFolder, CURRENT)) ?? '') ?? []
  return number === undefined ? undefined : Number(number)
}

export const isKept = (edgeFolder: string, number: number): boolean =>
  statAt(join(edgeFolder, GENERATIONS, String(number)))?.isDirectory() ?? false
