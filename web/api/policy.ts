import { useQuery } from '@tanstack/react-query'
import type { Policy as PolicyBody } from '../../src/client/index.ts'
import type { PortPolicy } from '../../src/plan/settings.ts'
import { client } from './client.ts'

/** The schema cannot say that a range has two ends; the model does. */
export interface Policy extends Omit<PolicyBody, 'ports'> {
  readonly ports: PortPolicy
}

/** What is allowed here, and what this visitor may do. It decides what is drawn; the service decides what is done. */
export const usePolicy = () =>
  useQuery({
    queryKey: ['policy'],
    queryFn: () => client.policy() as Promise<unknown> as Promise<Policy>,
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.status === 'error' ? 3_000 : false),
  })
