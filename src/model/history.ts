/**
 * The checks of a host in the last 24 hours by half hours, and its latest latencies. The numbers are stored as text, one
 * character per number, because an array of numbers takes several times the memory and there are thousands of histories.
 */
export interface History {
  /** The newest half hour with a check, counted since 1970. */
  readonly newest: number
  /** A ring of 48 half hours with two numbers each: successful checks and all checks. */
  readonly counts: string
  /** Milliseconds, oldest first. */
  readonly latencies: string
  /** When a check last succeeded. Null: not known. */
  readonly lastGood: number | null
}

const HALF_HOUR_MS = 1_800_000
const HALF_HOURS = 48
const MOST_LATENCIES = 24
const LARGEST = 65_535

const textOf = (numbers: readonly number[]): string =>
  String.fromCharCode(...numbers.map((number) => Math.min(LARGEST, number)))
/** A loop, because a list of hosts reads thousands of histories, and `Array.from` takes several times as long. */
function numbersIn(text: string): number[] {
  const numbers: number[] = []
  for (let i = 0; i < text.length; i += 1) numbers.push(text.charCodeAt(i))
  return numbers
}

export const NO_HISTORY: History = {
  newest: 0,
  counts: textOf(new Array(2 * HALF_HOURS).fill(0)),
  latencies: '',
  lastGood: null,
}

interface CountedCheck {
  readonly at: number
  readonly ok: boolean
  readonly latencyMs: number | null
}

export function addCheck(history: History, { at, ok, latencyMs }: CountedCheck): History {
  const now = Math.max(halfHourOf(at), history.newest)
  const counts = numbersIn(history.counts)
  clearHalfHours(counts, history.newest, now)
  const place = 2 * (now % HALF_HOURS)
  const [up = 0, all = 0] = counts.slice(place, place + 2)
  if (all < LARGEST) counts.splice(place, 2, up + (ok ? 1 : 0), all + 1)
  return {
    newest: now,
    counts: textOf(counts),
    latencies:
      latencyMs === null
        ? history.latencies
        : textOf([...numbersIn(history.latencies), latencyMs].slice(-MOST_LATENCIES)),
    lastGood: ok ? at : history.lastGood,
  }
}

/** Milliseconds, oldest first. */
export const latenciesOf = ({ latencies }: History): number[] => numbersIn(latencies)

/** 48 characters, oldest half hour first. `9`: all checks succeeded. `0` to `8`: that many tenths. `-`: no checks. */
export function stripOf(history: History, at: number): string {
  let strip = ''
  const last = lastHalfHour(history, at)
  for (let halfHour = last - HALF_HOURS + 1; halfHour <= last; halfHour += 1) {
    const all = checksIn(history, halfHour)
    const up = all === 0 ? 0 : successesIn(history, halfHour)
    strip += all === 0 ? '-' : up === all ? '9' : String(Math.min(8, Math.floor((10 * up) / all)))
  }
  return strip
}

/** The share of successful checks. Null when there were no checks. */
export function uptimeOf(history: History, at: number): number | null {
  let [succeeded, checks] = [0, 0]
  const last = lastHalfHour(history, at)
  for (let halfHour = last - HALF_HOURS + 1; halfHour <= last; halfHour += 1) {
    const all = checksIn(history, halfHour)
    checks += all
    if (all > 0) succeeded += successesIn(history, halfHour)
  }
  return checks === 0 ? null : Math.round((succeeded / checks) * 10_000) / 10_000
}

/** The text that the store keeps. */
export const historyText = ({ newest, counts, latencies, lastGood }: History): string =>
  JSON.stringify({ newest, counts: numbersIn(counts), latencies: numbersIn(latencies), lastGood })

interface StoredHistory {
  readonly newest: number
  readonly counts: number[]
  readonly latencies: number[]
  readonly lastGood?: number | null
}

export function parseHistory(text: string): History {
  const { newest, counts, latencies, lastGood } = JSON.parse(text) as StoredHistory
  return { newest, counts: textOf(counts), latencies: textOf(latencies), lastGood: lastGood ?? null }
}

const lastHalfHour = ({ newest }: History, at: number): number => Math.max(halfHourOf(at), newest)

/** The half hour must be one of the 48 that are kept. */
const checksIn = ({ newest, counts }: History, halfHour: number): number =>
  halfHour > newest ? 0 : counts.charCodeAt(2 * (halfHour % HALF_HOURS) + 1) || 0
const successesIn = ({ counts }: History, halfHour: number): number =>
  counts.charCodeAt(2 * (halfHour % HALF_HOURS)) || 0

/** Clears the ring positions of the half hours after `from` up to `to`. */
function clearHalfHours(counts: number[], from: number, to: number): void {
  for (let halfHour = Math.max(from + 1, to - HALF_HOURS + 1); halfHour <= to; halfHour += 1) {
    counts.splice(2 * (halfHour % HALF_HOURS), 2, 0, 0)
  }
}

const halfHourOf = (at: number): number => Math.floor(at / HALF_HOUR_MS)

/** The checks of a host in one hour or one day. */
export interface HistorySlot {
  readonly host: string
  /** `h` or `d`, then the number of the hour or day since 1970 in seven digits. */
  readonly slot: string
  readonly checks: number
  readonly succeeded: number
  /** The number of checks with a latency. */
  readonly answers: number
  readonly latencyTotal: number
}

export type HistoryUnit = 'h' | 'd'
export const UNIT_MS: Readonly<Record<HistoryUnit, number>> = { h: 3_600_000, d: 86_400_000 }
/** Hours are kept for 8 days, days for 91. */
const KEPT: Readonly<Record<HistoryUnit, number>> = { h: 8 * 24, d: 91 }

export const slotAt = (unit: HistoryUnit, at: number): string =>
  `${unit}${String(Math.max(0, Math.floor(at / UNIT_MS[unit]))).padStart(7, '0')}`

export const slotStart = (slot: string): number => Number(slot.slice(1)) * UNIT_MS[slot.slice(0, 1) as HistoryUnit]

/** The oldest slot of each unit that is kept. */
export const oldestSlots = (now: number): Record<HistoryUnit, string> => ({
  h: slotAt('h', now - KEPT.h * UNIT_MS.h),
  d: slotAt('d', now - KEPT.d * UNIT_MS.d),
})

/** Counts checks by hours and days until they are written. */
export class CheckCounts {
  #slots = new Map<string, HistorySlot>()

  add(host: string, { at, ok, latencyMs }: CountedCheck): void {
    for (const unit of ['h', 'd'] as const) {
      const slot = slotAt(unit, at)
      const key = `${host} ${slot}`
      const before = this.#slots.get(key)
      this.#slots.set(key, {
        host,
        slot,
        checks: (before?.checks ?? 0) + 1,
        succeeded: (before?.succeeded ?? 0) + (ok ? 1 : 0),
        answers: (before?.answers ?? 0) + (latencyMs === null ? 0 : 1),
        latencyTotal: (before?.latencyTotal ?? 0) + (latencyMs ?? 0),
      })
    }
  }

  /** Empties the counts. */
  take(): readonly HistorySlot[] {
    const slots = [...this.#slots.values()]
    this.#slots = new Map()
    return slots
  }
}

const MINUTE_MS = 60_000
const MINUTES = 60
const FIELDS = 4
const [MINUTE, CHECKS, SUCCEEDED, LATENCIES] = [0, 1, 2, 3]

/** The checks of a host in one minute. */
export interface MinuteSlot {
  readonly at: number
  readonly checks: number
  readonly succeeded: number
  readonly latencyMs: number | null
}

/**
 * The checks of each host in the last hour by minutes, in the memory of the instance that checks: a ring of 60 minutes in half
 * a kilobyte. After a start, or where another instance checks, there are none.
 */
export class Minutes {
  readonly #rings = new Map<string, Uint16Array>()
  #sweptAt = 0

  add(host: string, { at, ok, latencyMs }: CountedCheck): void {
    this.#forgetOld(at)
    const minute = Math.floor(at / MINUTE_MS)
    let ring = this.#rings.get(host)
    if (!ring) {
      ring = new Uint16Array(MINUTES * FIELDS)
      this.#rings.set(host, ring)
    }
    const place = (minute % MINUTES) * FIELDS
    const of = (field: number) => ring[place + field] ?? 0
    // The low half of the number tells minutes of other hours from this one.
    if (of(MINUTE) !== (minute & LARGEST)) ring.fill(0, place, place + FIELDS)
    ring[place + MINUTE] = minute & LARGEST
    ring[place + CHECKS] = of(CHECKS) + 1
    ring[place + SUCCEEDED] = of(SUCCEEDED) + (ok ? 1 : 0)
    if (latencyMs !== null) ring[place + LATENCIES] = Math.min(LARGEST, Math.max(of(LATENCIES), latencyMs + 1))
  }

  /** Hosts that were not checked for an hour are gone. */
  #forgetOld(at: number): void {
    if (at - this.#sweptAt < MINUTES * MINUTE_MS) return
    this.#sweptAt = at
    for (const host of this.#rings.keys()) if (this.of(host, at).length === 0) this.#rings.delete(host)
  }

  /** The minutes with checks, oldest first. `latencyMs` is the longest of the minute. */
  of(host: string, now: number): readonly MinuteSlot[] {
    const ring = this.#rings.get(host)
    if (!ring) return []
    const last = Math.floor(now / MINUTE_MS)
    const slots: MinuteSlot[] = []
    for (let minute = last - MINUTES + 1; minute <= last; minute += 1) {
      const place = (minute % MINUTES) * FIELDS
      const [number = 0, checks = 0, succeeded = 0, latency = 0] = ring.subarray(place, place + FIELDS)
      if (checks === 0 || number !== (minute & LARGEST)) continue
      slots.push({ at: minute * MINUTE_MS, checks, succeeded, latencyMs: latency === 0 ? null : latency - 1 })
    }
    return slots
  }
}
