import type { ServerResponse } from 'node:http'
import underPressure, { type FastifyUnderPressureOptions } from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../../model/errors.ts'

/** A machine that is only slow makes the event loop late, too. Fewer requests than these are served, however late it is. */
const MANY = 100

const LIMITS: FastifyUnderPressureOptions = { maxEventLoopDelay: 2_000 }

/** Refuses requests while the event loop is late and many requests wait for an answer. An open stream does not wait. */
export async function refuseOverload(app: FastifyInstance, limits = LIMITS): Promise<void> {
  const open = new Set<ServerResponse>()
  app.addHook('onRequest', async (_request, { raw }) => {
    open.add(raw)
    raw.once('close', () => open.delete(raw))
  })
  const areManyWaiting = () => [...open].filter(({ headersSent }) => !headersSent).length > MANY
  await app.register(underPressure, {
    ...limits,
    pressureHandler: () => {
      if (areManyWaiting()) throw new Problem('unavailable', 'The service is overloaded.', { retryAfter: 5 })
    },
  })
}
