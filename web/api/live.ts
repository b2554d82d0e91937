export type LiveState = 'connecting' | 'live' | 'lost'

export interface LiveStream {
  readonly path: string
  readonly events: Readonly<Record<string, (text: string, id: string) => void>>
  readonly onState: (state: LiveState) => void
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/** Follows server-sent events for as long as the page stands. A lost connection is told and taken up again by itself. */
export function follow({ path, events, onState }: LiveStream): () => void {
  let source: EventSource | undefined
  let timer: number | undefined
  let pause = SHORTEST_PAUSE_MS
  const lose = () => {
    source?.close()
    onState('lost')
    window.clearTimeout(timer)
    timer = window.setTimeout(open, pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
  const open = () => {
    window.clearTimeout(timer)
    source?.close()
    source = new EventSource(path)
    source.onopen = () => {
      pause = SHORTEST_PAUSE_MS
      onState('live')
    }
    // The browser would try again too, but not after every kind of refusal: so it is done here, always the same way.
    source.onerror = lose
    for (const [name, hear] of Object.entries(events)) {
      source.addEventListener(name, (event) => hear(String(event.data), event.lastEventId))
    }
  }
  window.addEventListener('online', open)
  window.addEventListener('offline', lose)
  onState('connecting')
  open()
  return () => {
    window.clearTimeout(timer)
    window.removeEventListener('online', open)
    window.removeEventListener('offline', lose)
    source?.close()
  }
}
