import { useQuery } from '@tanstack/react-query'
import type { Diagnosis } from '../../src/client/index.ts'
import { client } from './client.ts'

export type { Diagnosis } from '../../src/client/index.ts'
export type Link = Diagnosis['chain'][number]

/** Looked at anew each time it is opened, and again when somebody asks: it costs the caller's budget. */
export const useDiagnosis = (host: string) =>
  useQuery({
    queryKey: ['diagnosis', host],
    queryFn: () => client.diagnose(host),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
