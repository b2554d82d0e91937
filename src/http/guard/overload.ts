import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../../model/errors.ts'
import type { Clock, Timer } from '../../primitives/clock.ts'

/** A machine that is only slow makes the event loop late, too. Fewer requests than these are served, however late it is. */
const MANY = 100
const LATE_MS = 2_000
const TICK_MS = 500

/** Refuses requests while the event loop is late and many requests wait for an answer. An open stream does not wait. */
export function refuseOverload(app: FastifyInstance, clock: Clock, lateMs = LATE_MS): void {
  const isLate = watchLateness(app, clock, lateMs)
  const open = new Set<ServerResponse>()
  const areManyWaiting = () => [...open].filter(({ headersSent }) => !headersSent).length > MANY
  app.addHook('onRequest', async (_request, { raw }) => {
    open.add(raw)
    raw.once('close', () => open.delete(raw))
    if (isLate() && areManyWaiting()) throw new Problem('unavailable', 'The service is overloaded.', { retryAfter: 5 })
  })
}

/** Whether the last tick came late, or the next one is late already. */
function watchLateness(app: FastifyInstance, clock: Clock, lateMs: number): () => boolean {
  let lateBy = 0
  let due = Number.POSITIVE_INFINITY
  let ticks: Timer | undefined
  const sinceDue = () => clock.monotonic() - due
  const tick = () => {
    lateBy = Math.max(0, sinceDue())
    due = clock.monotonic() + TICK_MS
  }
  app.addHook('onReady', async () => {
    tick()
    ticks = clock.every(TICK_MS, tick, { ref: false })
  })
  app.addHook('onClose', async () => ticks?.cancel())
  return () => Math.max(lateBy, sinceDue()) > lateMs
}
