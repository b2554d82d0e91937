import { createHmac } from 'node:crypto'
import { eventJson, type StoredEvent } from '../model/event.ts'
import type { Clock } from '../primitives/clock.ts'
import type { EventFilter } from './event-feed.ts'

/** One configured receiver of events. */
export interface Hook extends EventFilter {
  readonly name: string
  readonly url: string
  readonly key: Buffer
  /** The number of tries before an event becomes a dead letter. */
  readonly tries: number
  readonly timeoutMs: number
}

/** The key in a secret of Standard Webhooks: `whsec_` and the bytes in base64. */
export const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/** The headers with which a receiver verifies a message and recognizes a repetition. */
export function signedHeaders(key: Buffer, id: string, atMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** The result of one try. `retryAfterMs`: the pause that the receiver asked for. `fault` never quotes the receiver's answer. */
export type Sent = { readonly ok: true } | { readonly ok: false; readonly fault: string; readonly retryAfterMs: number }

export type Send = (hook: Hook, event: StoredEvent, at: number, gone: AbortSignal) => Promise<Sent>

const LARGEST_ANSWER = 16 * 1024

/** Sends one signed POST with a timeout. Follows no redirect and reads at most 16 KiB of the answer. */
export function sender(clock: Clock): Send {
  let client: ReturnType<typeof loadClient> | undefined
  return async (hook, event, at, gone) => {
    const body = JSON.stringify(eventJson(event))
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'drawbridge',
      ...signedHeaders(hook.key, event.id, at, body),
    }
    const signal = AbortSignal.any([gone, clock.timeout(hook.timeoutMs)])
    try {
      client ??= loadClient()
      const { request, agent } = await client
      const answer = await request(hook.url, { method: 'POST', headers, body, signal, dispatcher: agent })
      await answer.body.dump({ limit: LARGEST_ANSWER, signal }).catch(() => undefined)
      if (answer.statusCode >= 200 && answer.statusCode < 300) return { ok: true }
      return {
        ok: false,
        fault: `HTTP ${answer.statusCode}`,
        retryAfterMs: retryAfterMs(answer.headers['retry-after']),
      }
    } catch (error) {
      return { ok: false, fault: faultOf(error), retryAfterMs: 0 }
    }
  }
}

/** Loads undici with the first message, because many installations have no webhook. */
async function loadClient() {
  const { Agent, request } = await import('undici')
  return { request, agent: new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 4_000, pipelining: 1 }) }
}

const retryAfterMs = (header: string | string[] | undefined): number =>
  typeof header === 'string' && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : 0

/** The class of a failure. The error message is not used: it can contain the URL, which can contain a secret. */
function faultOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: string; code?: string }
  if (name === 'TimeoutError') return 'timeout'
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'no connection'
}
