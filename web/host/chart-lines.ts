import type { HostHistory } from '../api/history.ts'
import { took } from '../parts/time.ts'
import { percent } from '../status/Strip.tsx'

type Slot = HostHistory['slots'][number]

/** A time in which the host was not well, as a part of the width from 0 to 1. */
interface Band {
  readonly from: number
  readonly to: number
  readonly badges: readonly string[]
}

/** What a chart draws: slots of one length between two times, and the incidents in between. */
export interface Pace {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  readonly slots: readonly Slot[]
  readonly bands: readonly Band[]
  /** `24 hours`, for the sentence below the chart. */
  readonly span: string
  readonly unit: string
  /** Minutes are drawn as a line, hours and days as bars. */
  readonly isLine: boolean
  readonly uptime: number | null
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const STEP_MS = { hour: HOUR_MS, day: 24 * HOUR_MS }
/** A host that was just made has this much room for its line. */
const SHORTEST_MS = 10 * MINUTE_MS

/** `isHour`: the last hour over minutes, or the part of it since the first check. */
export function paceOf(history: HostHistory, isHour: boolean, now: number): Pace {
  const { days, unit, incidents, minutes = [] } = history
  const first = Date.parse(minutes[0]?.at ?? '') || now
  const from = isHour ? Math.max(now - HOUR_MS, Math.min(first, now - SHORTEST_MS)) : Date.parse(history.from)
  const to = isHour ? now : Math.max(now, from + STEP_MS[unit])
  const slots = isHour ? minutes : history.slots
  const place = (at: string | null, other: number) =>
    at === null ? other : Math.min(1, Math.max(0, (Date.parse(at) - from) / (to - from)))
  const bands = incidents
    .map(({ began, ended, badges }) => ({ from: place(began, 0), to: place(ended, 1), badges }))
    .filter((band) => band.to > band.from)
  const sum = (member: (slot: Slot) => number) => slots.reduce((total, slot) => total + member(slot), 0)
  const checks = sum((slot) => slot.checks)
  return {
    ...{ from, to, slots, bands },
    stepMs: isHour ? MINUTE_MS : STEP_MS[unit],
    span: isHour ? 'last hour' : days === 1 ? '24 hours' : `${days} days`,
    unit: isHour ? 'minute' : unit,
    isLine: isHour,
    uptime: isHour ? (checks === 0 ? null : sum((slot) => (slot.uptime ?? 0) * slot.checks) / checks) : history.uptime,
  }
}

/** The points of a line, left to right, each in the middle of its slot: x from 0 to 1, y from 0 (low) to 1. */
export function pointsOf({ slots, from, to, stepMs }: Pace, value: (slot: Slot) => number | null, most: number) {
  return slots.flatMap((slot) => {
    const now = value(slot)
    if (now === null) return []
    const x = (Date.parse(slot.at) + stepMs / 2 - from) / (to - from)
    return [{ x: Math.min(1, Math.max(0, x)), y: now / most }]
  })
}

/** The picture in one sentence. */
export function describe({ span, slots, uptime, unit }: Pace, what: 'uptime' | 'latency', at: (iso: string) => string) {
  if (slots.length === 0) return `No checks in the last ${span.replace(/^last /, '')}.`
  const covered = `${slots.length} ${unit}${slots.length === 1 ? '' : 's'} with checks`
  if (what === 'latency') {
    const known = slots.flatMap(({ latencyMs }) => latencyMs ?? [])
    if (known.length === 0) return `Latency, ${span}: no answer was measured.`
    const average = known.reduce((sum, ms) => sum + ms, 0) / known.length
    return `Latency, ${span}: ${took(average)} on average, ${took(Math.min(...known))} to ${took(Math.max(...known))}, from ${covered}.`
  }
  const worst = slots.reduce((low, slot) => ((slot.uptime ?? 1) < (low.uptime ?? 1) ? slot : low))
  const low = worst.uptime === 1 || worst.uptime === null ? '' : ` Lowest: ${percent(worst.uptime)} at ${at(worst.at)}.`
  return `Uptime, ${span}: ${uptime === null ? 'not known' : percent(uptime)}, from ${covered}.${low}`
}
