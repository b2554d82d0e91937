import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A shorter answer fits into one packet anyway. */
const WORTH_IT = 1_400
const compress = promisify(gzip)

/**
 * For answers that are long and hold no secret. The work is done by another thread, and lightly: a list of hosts becomes an
 * eighth of its size.
 */
export async function compressed(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  reply.header('vary', 'accept-encoding')
  const isTaken = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(request.headers['accept-encoding'] ?? ''))
  if (!isTaken || typeof payload !== 'string' || payload.length < WORTH_IT) return payload
  reply.header('content-encoding', 'gzip').removeHeader('content-length')
  return compress(payload, { level: 1 })
}
