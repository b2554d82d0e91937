import type { Screen } from '../../terminal/screen.ts'
import { hanging, moment, shortMoment } from '../../terminal/text.ts'

interface EventView {
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly host: string; readonly facts: Readonly<Record<string, unknown>> }
}

/** One event each: when, what, which host, and its facts. */
export function eventLines(events: readonly EventView[], screen: Screen): string[] {
  if (events.length === 0) return ['No events yet.']
  return events.flatMap(({ type, timestamp, data }) => {
    const at = screen.isTerminal ? shortMoment(timestamp) : moment(timestamp)
    const facts = Object.entries(data.facts).flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${String(value)}`],
    )
    return hanging(`${at}  `, at.length + 2, [type, data.host, ...facts].join(' '), screen.columns)
  })
}
