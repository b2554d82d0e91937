import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { follow } from '../api/live.ts'
import type { RunEvent } from '../api/plans.ts'

const NAMES: readonly RunEvent['name'][] = ['started', 'done', 'failed', 'undoing', 'undone', 'undo_failed', 'end']

/** The live events of a plan's run. The service always sends all events from the start of the run. */
export function useFollowing(planId: string, isRunning: boolean): readonly RunEvent[] {
  const queries = useQueryClient()
  const [events, setEvents] = useState<readonly RunEvent[]>([])
  useEffect(() => {
    if (!isRunning) return
    setEvents([])
    const seen = new Map<string, RunEvent>()
    const hear = (name: RunEvent['name']) => (text: string, id: string) => {
      seen.set(id, { ...(JSON.parse(text) as Omit<RunEvent, 'id' | 'name'>), id, name })
      setEvents([...seen.values()])
      if (name !== 'end') return
      stop()
      void queries.invalidateQueries({ queryKey: ['plan', planId] })
    }
    const stop = follow({
      path: `/api/deploy/plans/${planId}/events`,
      events: Object.fromEntries(NAMES.map((name) => [name, hear(name)])),
      onState: () => undefined,
    })
    return stop
  }, [planId, isRunning, queries])
  return events
}
