import { createHmac } from 'node:crypto'
import { eventJson, type StoredEvent } from '../model/event.ts'
import type { EventFilter } from './event-feed.ts'

/** One receiver of events, as the configuration names it. */
export interface Hook extends EventFilter {
  readonly name: string
  readonly url: string
  readonly key: Buffer
  /** How often an event is tried before it is given up. */
  readonly tries: number
  readonly timeoutMs: number
}

/** The key in a secret as Standard Webhooks writes it: `whsec_` and its bytes in base64. */
export const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/** The headers that let a receiver know a message as ours, and as one it has had before. */
export function signedHeaders(key: Buffer, id: string, atMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** What became of one try. `retryAfterMs`: the receiver asked for so long. Faults are told without what the receiver said. */
export type Sent = { readonly ok: true } | { readonly ok: false; readonly fault: string; readonly retryAfterMs: number }

export type Send = (hook: Hook, event: StoredEvent, at: number, gone: AbortSignal) => Promise<Sent>

const LARGEST_ANSWER = 16 * 1024

/** One POST: signed, in its time or not at all, no redirect followed, little of the answer read. */
export function sender(): Send {
  let client: ReturnType<typeof loadClient> | undefined
  return async (hook, event, at, gone) => {
    const body = JSON.stringify(eventJson(event))
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'drawbridge',
      ...signedHeaders(hook.key, event.id, at, body),
    }
    const signal = AbortSignal.any([gone, AbortSignal.timeout(hook.timeoutMs)])
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

/** Loaded with the first message: many a service has no receiver. */
async function loadClient() {
  const { Agent, request } = await import('undici')
  return { request, agent: new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 4_000, pipelining: 1 }) }
}

const retryAfterMs = (header: string | string[] | undefined): number =>
  typeof header === 'string' && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : 0

/** The class of a failure: a message might hold the address, which may hold a secret. */
function faultOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: string; code?: string }
  if (name === 'TimeoutError') return 'no answer in time'
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'no connection'
}
