export type LiveState = 'connecting' | 'live' | 'lost'

export interface LiveStream {
  readonly path: string
  readonly events: Readonly<Record<string, (text: string, id: string) => void>>
  readonly onState: (state: LiveState) => void
  /** A stream that is silent for longer counts as lost. Undefined: it may be silent for any time. */
  readonly silentMs?: number
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/** Reads server-sent events while the page is open. Reports a lost connection and reconnects automatically. */
export function follow({ path, events, onState, silentMs }: LiveStream): () => void {
  let source: EventSource | undefined
  let timer: number | undefined
  let silence: number | undefined
  let pause = SHORTEST_PAUSE_MS
  const lose = () => {
    source?.close()
    onState('lost')
    window.clearTimeout(silence)
    window.clearTimeout(timer)
    timer = window.setTimeout(open, pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
  const hearSomething = () => {
    window.clearTimeout(silence)
    if (silentMs !== undefined) silence = window.setTimeout(lose, silentMs)
  }
  const open = () => {
    window.clearTimeout(timer)
    source?.close()
    source = new EventSource(path)
    // A connection that never opens is lost, too.
    hearSomething()
    source.onopen = () => {
      pause = SHORTEST_PAUSE_MS
      hearSomething()
      onState('live')
    }
    // The browser does not reconnect after every kind of refusal, so this code always does.
    source.onerror = lose
    for (const [name, hear] of Object.entries(events)) {
      source.addEventListener(name, (event) => {
        hearSomething()
        hear(String(event.data), event.lastEventId)
      })
    }
  }
  window.addEventListener('online', open)
  window.addEventListener('offline', lose)
  onState('connecting')
  open()
  return () => {
    window.clearTimeout(timer)
    window.clearTimeout(silence)
    window.removeEventListener('online', open)
    window.removeEventListener('offline', lose)
    source?.close()
  }
}
