import { eventsIn, type StreamedEvent } from './event-stream.ts'
import { refusalOf, Unreachable } from './refusal.ts'

export interface StreamOptions {
  /** Goes on after this event. */
  readonly lastEventId?: string | undefined
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
}

interface Source {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  readonly path: string
  /** Whether the stream never ends by itself: a lost connection is then taken up again from the last event. */
  readonly endless: boolean
}

const PAUSE_MS = 1_000

/** Follows a stream of the service. */
export async function* stream(source: Source, options: StreamOptions = {}): AsyncGenerator<StreamedEvent, void> {
  const { signal } = options
  let lastEventId = options.lastEventId
  for (let pauseMs = 0; !signal?.aborted; pauseMs = PAUSE_MS) {
    await pause(pauseMs, signal)
    try {
      for await (const event of await open(source, lastEventId, signal)) {
        lastEventId = event.id
        yield event
      }
      if (!source.endless) return
    } catch (error) {
      if (signal?.aborted) return
      if (!source.endless || !(error instanceof Unreachable || error instanceof TypeError)) throw error
    }
  }
}

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

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (ms === 0 || signal?.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
