const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A span in its largest whole unit: `45s`, `12m`, `3h`, `9d`. */
export function span(ms: number): string {
  const length = Math.max(0, ms)
  if (length < MINUTE) return `${Math.floor(length / 1000)}s`
  if (length < HOUR) return `${Math.floor(length / MINUTE)}m`
  if (length < 2 * DAY) return `${Math.floor(length / HOUR)}h`
  return `${Math.floor(length / DAY)}d`
}

/** `2026-01-31 12:00:00`, in UTC as everything here. */
export const moment = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

/** The same where room is short: a person at a terminal knows the year. */
export const shortMoment = (iso: string): string => moment(iso).slice(5, 16)

/** A moment, and how far away it is. */
export function until(iso: string, now: number): string {
  const left = Date.parse(iso) - now
  return `${moment(iso)} UTC (${left >= 0 ? `in ${span(left)}` : `${span(-left)} ago`})`
}
