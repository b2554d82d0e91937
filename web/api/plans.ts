import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { RunBody } from '../../src/http/run-schemas.ts'
import type { CapabilityBody, PlanBody, PlanPageBody } from '../../src/http/schemas.ts'
import type { Change } from '../../src/model/change.ts'
import type { ExposureRequest } from '../../src/model/exposure.ts'
import type { Check } from '../../src/model/finding.ts'
import { ask } from './call.ts'

/** The schemas leave the evidence open; the model says what it is. */
export interface Plan extends Omit<PlanBody, 'checks' | 'changes'> {
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
}
export type Run = RunBody
export type RunEvent = RunBody['events'][number]
export type Action = RunBody['action']

export const makePlan = (request: ExposureRequest) => ask<Plan>('/api/deploy/plan', { body: request })

const planKey = (planId: string) => ['plan', planId]

export const usePlan = (planId: string) =>
  useQuery({
    queryKey: planKey(planId),
    queryFn: ({ signal }) => ask<Plan>(`/api/deploy/plans/${encodeURIComponent(planId)}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.state === 'applying' || state.data?.state === 'removing' ? 1_000 : 15_000,
  })

export const usePlans = () =>
  useInfiniteQuery({
    queryKey: ['plans'],
    queryFn: ({ pageParam, signal }) =>
      ask<PlanPageBody>(`/api/deploy/plans?limit=50${pageParam ? `&cursor=${pageParam}` : ''}`, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: 15_000,
  })

/**
 * Gets the right to run a plan once and spends it at once: the capability lives in this function alone. Resolves when
 * the run has begun; its steps are followed by their events.
 */
export async function beginRun(planId: string, action: Action): Promise<void> {
  const { capability, header } = await ask<CapabilityBody>('/api/internal/token', { body: { planId, action } })
  await ask(`/api/deploy/${action}`, { body: { planId }, headers: { [header]: capability, prefer: 'respond-async' } })
}
