import { UsageError } from '../terminal/declare.ts'

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90s`, `30m`, `2h`, `7d` or bare seconds, as seconds. */
export function parseDuration(text: string, option: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  if (count === undefined)
    throw new UsageError(`${option} ${text} is not a duration. Use a form such as 30m, 2h or 7d.`)
  return Number(count) * (UNITS[unit] ?? 1)
}
