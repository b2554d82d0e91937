import type { Clock } from '../primitives/clock.ts'
import { Refusal, refusalOf, Unreachable } from './refusal.ts'

export interface StreamOptions {
  /** Continue after this event. */
  readonly lastEventId?: string | undefined
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
}

interface Source {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  readonly path: string
  /** An endless stream reconnects after a lost connection or a refusal for now, and continues from the last event. */
  readonly endless: boolean
  readonly clock: Clock
}

const RECONNECT_MS = 1_000

export async function* stream(source: Source, options: StreamOptions = {}): AsyncGenerator<StreamedEvent, void> {
  const { signal } = options
  let lastEventId = options.lastEventId
  let wasOpen = false
  for (let pauseMs = 0; !signal?.aborted; ) {
    if (pauseMs > 0) await source.clock.sleep(pauseMs, { signal })
    pauseMs = RECONNECT_MS
    try {
      const events = await open(source, lastEventId, signal)
      wasOpen = true
      for await (const event of events) {
        lastEventId = event.id
        yield event
      }
      if (!source.endless) return
    } catch (error) {
      if (signal?.aborted) return
      if (!source.endless || !isOverSoon(error, wasOpen)) throw error
      if (error instanceof Refusal) pauseMs = Math.max(RECONNECT_MS, (error.retryAfter ?? 0) * 1000)
    }
  }
}

/** A service that restarts, or has too much to do, refuses for now. Who was never let in is told. */
const isOverSoon = (error: unknown, wasOpen: boolean): boolean =>
  error instanceof Unreachable || error instanceof TypeError || (wasOpen && error instanceof Refusal && error.retryable)

async function open(
  { baseUrl, fetch, path }: Source,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): Promise<AsyncGenerator<StreamedEvent, void>> {
  const headers = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
  const answer = await fetch(new URL(path, baseUrl), { headers, signal: signal ?? null }).catch((error: unknown) => {
    throw new Unreachable(baseUrl, error)
  })
  if (!answer.ok || !answer.body) throw refusalOf(await answer.json().catch(() => undefined), baseUrl)
  return eventsIn(answer.body)
}

/** One server-sent event. */
export interface StreamedEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Reads server-sent events from a response body until it ends. Skips comments, such as heartbeats. */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parse(block)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parse(block: string): StreamedEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
    if (name) fields.set(name, value)
  }
  const data = fields.get('data')
  if (data === undefined) return undefined
  return { id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data: JSON.parse(data) }
}
