import { type HistorySlot, type MinuteSlot, type Minutes, slotAt, slotStart, UNIT_MS } from '../../model/history.ts'
import type { Board } from '../../monitor/board.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { EventStore } from '../../store/ports/events.ts'
import type { HostStore } from '../../store/ports/hosts.ts'
import { INCIDENT_EVENTS, type Incident, incidentsOf } from '../../usecases/incidents.ts'
import type { App } from '../app.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { HistoryBody, HistoryQuery, type HistorySlotBody } from '../schemas/status-schemas.ts'
import { canonicalHost, findHost, timeText, type Visibility } from './host-body.ts'

export type HistoryReader = Pick<HostStore, 'readHistory'> & Pick<EventStore, 'readHostEvents'>

interface HistoryParts {
  readonly board: Board
  readonly history: HistoryReader
  /** The last hour of a host by minutes. */
  readonly minutes: Pick<Minutes, 'of'>
  readonly clock: Clock
}

const DAY_MS = UNIT_MS.d
/** Up to this many days are answered by hours. */
const BY_HOURS = 7
/** The newest events of a host that incidents are read from. A host that flaps has many. */
const MOST_EVENTS = 500

/** Uptime, latency and incidents of a host over days. */
export function hostHistoryRoutes(
  app: App,
  { board, history, minutes, clock }: HistoryParts,
  visibleTo: Visibility,
): void {
  app.get(
    '/api/hosts/history',
    {
      schema: {
        operationId: 'getHostHistory',
        tags: ['status'],
        summary: "Read a host's uptime, latency and incidents over 1, 7, 30 or 90 days",
        querystring: HistoryQuery,
        response: { 200: HistoryBody, ...problems('invalid_request', 'host_not_found') },
      },
    },
    async ({ query, caller }) => {
      const status = findHost(board, canonicalHost(query.host), visibleTo(caller.network))
      const { host } = status
      const days = Number(query.days ?? '1')
      const unit = days <= BY_HOURS ? 'h' : 'd'
      const from = slotAt(unit, clock.now() - days * DAY_MS + UNIT_MS[unit])
      const slots = await history.readHistory(host, from)
      const events = await history.readHostEvents(host, INCIDENT_EVENTS, MOST_EVENTS)
      const lastHour = days === 1 ? minutes.of(host, clock.now()) : []
      const sum = (member: 'checks' | 'succeeded') => slots.reduce((total, slot) => total + slot[member], 0)
      return {
        host,
        days,
        unit: unit === 'h' ? ('hour' as const) : ('day' as const),
        from: new Date(slotStart(from)).toISOString(),
        uptime: share(sum('succeeded'), sum('checks')),
        slots: slots.map(slotBody),
        ...(lastHour.length > 0 && { minutes: lastHour.map(minuteBody) }),
        lastGoodAt: timeText(status.history.lastGood),
        incidents: incidentsOf(events, status)
          .filter(({ ended }) => ended === null || ended >= slotStart(from))
          .map(incidentBody),
      }
    },
  )
}

const share = (part: number, all: number): number | null =>
  all === 0 ? null : Math.round((part / all) * 10_000) / 10_000

const slotBody = ({ slot, checks, succeeded, answers, latencyTotal }: HistorySlot): HistorySlotBody => ({
  at: new Date(slotStart(slot)).toISOString(),
  checks,
  uptime: share(succeeded, checks),
  latencyMs: answers === 0 ? null : Math.round(latencyTotal / answers),
})

const minuteBody = ({ at, checks, succeeded, latencyMs }: MinuteSlot): HistorySlotBody => ({
  at: new Date(at).toISOString(),
  checks,
  uptime: share(succeeded, checks),
  latencyMs,
})

const incidentBody = ({ began, ended, badges }: Incident) => ({
  began: began === null ? null : new Date(began).toISOString(),
  ended: ended === null ? null : new Date(ended).toISOString(),
  badges: [...badges],
})
