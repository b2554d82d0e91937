import { useQuery } from '@tanstack/react-query'
import type { Policy as PolicyBody } from '../../src/client/index.ts'
import type { PortPolicy } from '../../src/plan/settings.ts'
import { client } from './client.ts'

/** The schema cannot express that a range has two ends; the model does. */
export interface Policy extends Omit<PolicyBody, 'ports'> {
  readonly ports: PortPolicy
}

/** The policy, and what this caller may do. It decides only what the page shows: the service checks every call. */
export const usePolicy = () =>
  useQuery({
    queryKey: ['policy'],
    queryFn: () => client.policy() as Promise<unknown> as Promise<Policy>,
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.status === 'error' ? 3_000 : false),
  })
