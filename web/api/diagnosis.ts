import { useQuery } from '@tanstack/react-query'
import type { DiagnosisBody } from '../../src/http/diagnosis-schemas.ts'
import { ask } from './call.ts'

export type Diagnosis = DiagnosisBody
export type Link = DiagnosisBody['chain'][number]

/** Looked at anew each time it is opened, and again when somebody asks: it costs the caller's budget. */
export const useDiagnosis = (host: string) =>
  useQuery({
    queryKey: ['diagnosis', host],
    queryFn: ({ signal }) => ask<Diagnosis>(`/api/diagnose?host=${encodeURIComponent(host)}`, { signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
