import { useQuery } from '@tanstack/react-query'
import type { Diagnosis } from '../../src/client/index.ts'
import { client } from './client.ts'

export type { Diagnosis } from '../../src/client/index.ts'
export type Link = Diagnosis['chain'][number]

/** Runs when the panel opens and on request only, because each diagnosis counts against the rate limit of the caller. */
export const useDiagnosis = (host: string) =>
  useQuery({
    queryKey: ['diagnosis', host],
    queryFn: () => client.diagnose(host),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
