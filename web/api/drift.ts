import { skipToken, useQuery } from '@tanstack/react-query'
import type { Drift } from '../../src/client/index.ts'
import { client } from './client.ts'

export type Difference = Drift['differences'][number]

/** How an applied plan differs from files, zone and certificate. Without an id nothing is fetched. */
export const useDrift = (planId: string | undefined) =>
  useQuery({
    queryKey: ['drift', planId],
    queryFn: planId === undefined ? skipToken : () => client.drift(planId),
    gcTime: 0,
  })
