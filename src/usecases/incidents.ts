import type { EventType, StoredEvent } from '../model/event.ts'

/** A time in which a host was not well. */
export interface Incident {
  /** Null: it began before the first event that is kept. */
  readonly began: number | null
  /** Null: it has not ended. */
  readonly ended: number | null
  /** The badges of the host in that time, in the order in which they came. */
  readonly badges: readonly string[]
}

/** The events that begin or end an incident. */
export const INCIDENT_EVENTS: readonly EventType[] = [
  'host.badge',
  'exposure.removed',
  'exposure.expired',
  'exposure.released',
]

const isTrouble = (badge: unknown): badge is string =>
  typeof badge === 'string' && badge !== 'RUNNING' && badge !== 'PENDING'

/**
 * The incidents of a host, newest first. `events`: those of the host of the types above, oldest first. A host that is removed or
 * released has no incident any more.
 */
export function incidentsOf(
  events: readonly Pick<StoredEvent, 'at' | 'type' | 'facts'>[],
  now: { readonly badge: string; readonly since: number | null },
): readonly Incident[] {
  const incidents: Incident[] = []
  let open: Incident | undefined
  const end = (at: number) => {
    if (open) incidents.push({ ...open, ended: at })
    open = undefined
  }
  for (const { at, type, facts } of events) {
    const { badge, before } = facts
    if (type !== 'host.badge' || !isTrouble(badge)) {
      if (!open && type === 'host.badge' && incidents.length === 0 && isTrouble(before))
        open = { began: null, ended: null, badges: [before] }
      end(at)
    } else if (open) {
      open = { ...open, badges: [...new Set([...open.badges, badge])] }
    } else {
      const isFirstKnown = incidents.length === 0 && isTrouble(before)
      open = {
        began: isFirstKnown ? null : at,
        ended: null,
        badges: [...new Set([...(isFirstKnown ? [before] : []), badge])],
      }
    }
  }
  // The board is newer than the events, and knows of trouble whose events are no longer kept.
  if (isTrouble(now.badge)) incidents.push(open ?? { began: now.since, ended: null, badges: [now.badge] })
  else if (open) end(now.since ?? events.at(-1)?.at ?? 0)
  return incidents.toReversed()
}
