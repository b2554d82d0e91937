import pg from 'pg'
import type { Clock } from '../../primitives/clock.ts'
import type { Listener } from './engine.ts'

const CHANNEL = 'drawbridge'
const RECONNECT_MS = 1_000
/** How often a silent connection is tried out. A server that vanished without a word sends nothing. */
const TRY_MS = 5_000
const TIMEOUTS = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 }

/**
 * A connection of its own that waits for notifications. It is opened with the first call of `listen` and opened again whenever it is
 * lost; then `onNotice` is called once, because something may have been missed.
 */
export function postgresListener(url: string, self: string, clock: Clock): Listener {
  const closing = new AbortController()
  let isListening = false
  let working: Promise<void> | undefined

  const listenOnce = async (onNotice: () => void): Promise<void> => {
    const client = new pg.Client({ ...TIMEOUTS, connectionString: url, keepAlive: true })
    const lost = new Promise<void>((resolve) => {
      client.on('error', () => resolve())
      client.on('end', () => resolve())
      closing.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    try {
      await client.connect()
      client.on('notification', ({ payload }) => {
        if (payload !== self) onNotice()
      })
      await client.query(`listen ${CHANNEL}`)
      isListening = true
      onNotice()
      for (let isAlive = true; isAlive && !closing.signal.aborted; ) {
        const silent = clock.sleep(TRY_MS, { ref: false }).then(() => true)
        isAlive = await Promise.race([lost.then(() => false), silent])
        if (isAlive) await client.query('select 1')
      }
    } finally {
      isListening = false
      await client.end().catch(() => undefined)
    }
  }
  const keepListening = async (onNotice: () => void): Promise<void> => {
    while (!closing.signal.aborted) {
      await listenOnce(onNotice).catch(() => undefined)
      await clock.sleep(RECONNECT_MS, { signal: closing.signal, ref: false })
    }
  }
  return {
    notice: { channel: CHANNEL, payload: self },
    isListening: () => isListening,
    listen(onNotice) {
      working ??= keepListening(onNotice)
    },
    async close() {
      closing.abort()
      await working
    },
  }
}
