import { TIMEOUT_BOUNDS } from '../../../model/options/grammar.ts'

/** Converts a size of nginx to the grammar of the options. */
export function sizeIn(text: string): string | undefined {
  const [, digits, unit = ''] = /^(\d{1,12})([kmg]?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const bytes = Number(digits) * { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }[unit as '' | 'k' | 'm' | 'g']
  if (bytes === 0) return '0'
  if (bytes === 64 * 2 ** 20) return 'same'
  for (const [letter, size] of [
    ['g', 2 ** 30],
    ['m', 2 ** 20],
    ['k', 2 ** 10],
  ] as const)
    if (bytes % size === 0 && bytes / size <= 99_999) return `${bytes / size}${letter}`
  return undefined
}

const DEFAULT_SECONDS = { connect: 5, read: 300, send: 60 } as const
const SECONDS = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Converts a time of nginx to seconds, if the bounds of the option allow it. */
export function secondsIn(text: string, which: keyof typeof TIMEOUT_BOUNDS): number | 'same' | undefined {
  const parts = [...text.matchAll(/(\d{1,6})([smhd]?)/g)]
  if (text === '' || parts.map(([part]) => part).join('') !== text) return undefined
  const seconds = parts.reduce(
    (sum, [, digits, unit]) => sum + Number(digits) * SECONDS[unit as keyof typeof SECONDS],
    0,
  )
  if (seconds === DEFAULT_SECONDS[which]) return 'same'
  const [lowest, highest] = TIMEOUT_BOUNDS[which]
  return seconds >= lowest && seconds <= highest ? seconds : undefined
}
