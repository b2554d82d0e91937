import { useQuery } from '@tanstack/react-query'
import type { RecentEvents } from '../../src/client/index.ts'
import { client } from './client.ts'

export type HostEvent = RecentEvents['events'][number]

/** The newest events, newest first, of all hosts or of one. Only for callers inside. The stream of changes says when there are more. */
export const useEvents = (isAllowed: boolean, host?: string) =>
  useQuery({
    queryKey: ['events', host ?? ''],
    queryFn: async () => (await client.recentEvents({ limit: '200', ...(host && { host }) })).events.toReversed(),
    enabled: isAllowed,
  })
