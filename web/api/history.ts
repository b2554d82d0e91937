import { skipToken, useQuery } from '@tanstack/react-query'
import type { components } from '../../src/client/index.ts'
import { refusalOf } from '../../src/client/refusal.ts'
import { client } from './client.ts'

export type HostHistory = components['schemas']['HostHistory']
export type Days = '1' | '7' | '30' | '90'

/** Uptime and latency of a host over days. Without a host nothing is fetched. */
export const useHostHistory = (host: string | undefined, days: Days) =>
  useQuery({
    queryKey: ['history', host, days],
    queryFn: host === undefined ? skipToken : () => fetchHistory(host, days),
    staleTime: 60_000,
  })

async function fetchHistory(host: string, days: Days): Promise<HostHistory> {
  const { data, error } = await client.api.GET('/api/hosts/history', { params: { query: { host, days } } })
  if (data === undefined) throw refusalOf(error, client.baseUrl)
  return data
}
