import { useEffect, useState } from 'react'

/** The current time, updated at an interval. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), everyMs)
    return () => window.clearInterval(timer)
  }, [everyMs])
  return now
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `2 d 4 h`, `12 min`, `8 s`: at most two units. */
export function span(ms: number): string {
  const left = Math.max(0, ms)
  if (left < MINUTE) return `${Math.floor(left / SECOND)} s`
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min`
  if (left < DAY) return pair(left, HOUR, 'h', MINUTE, 'min')
  return pair(left, DAY, 'd', HOUR, 'h')
}

function pair(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const [many, rest] = [Math.floor(ms / big), Math.floor((ms % big) / small)]
  return rest === 0 ? `${many} ${bigName}` : `${many} ${bigName} ${rest} ${smallName}`
}

/** `90 d`, `57 min`: the time that is left, rounded up to one unit, as the command line says it. */
export function timeLeft(ms: number): string {
  const left = Math.max(0, ms)
  if (left <= 2 * MINUTE) return `${Math.ceil(left / SECOND)} s`
  if (left < 2 * HOUR - MINUTE) return `${Math.ceil(left / MINUTE)} min`
  if (left <= 2 * DAY) return `${Math.ceil(left / HOUR)} h`
  return `${Math.ceil(left / DAY)} d`
}

export const took = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

const IN_FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

const OF_THE_DAY = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The time alone within a day, else with its date. */
export const atTime = (iso: string, now: number): string =>
  Math.abs(now - Date.parse(iso)) < DAY / 2 ? OF_THE_DAY.format(new Date(iso)) : inFull(iso)

export const inFull = (iso: string): string => IN_FULL.format(new Date(iso))

/** A sentence of the service, with its times as this page writes them. */
export const withDates = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (iso) => inFull(iso))
