import { skipToken, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Plan as PlanBody, Run } from '../../src/client/index.ts'
import type { Change, ExposureRequest } from '../../src/model/exposure.ts'
import type { Check } from '../../src/model/finding.ts'
import { client } from './client.ts'

export type { Run } from '../../src/client/index.ts'
export type RunEvent = Run['events'][number]
export type Action = Run['action']
/** The actions that a caller requests. To apply a plan that replaces another one is an `update`. */
export type RequestedAction = 'apply' | 'remove'

/** The schema of the API does not type the evidence; the model does. */
export interface Plan extends Omit<PlanBody, 'checks' | 'changes'> {
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
}

const inFull = async (answer: Promise<PlanBody>): Promise<Plan> => (await answer) as unknown as Plan

export const makePlan = (request: ExposureRequest): Promise<Plan> => inFull(client.plan(request as PlanBody['request']))

/** Whether a run of the plan is in progress. */
export const isUnderWay = ({ state, runs }: Pick<Plan, 'state' | 'runs'>): boolean =>
  state === 'applying' || state === 'removing' || runs?.at(-1)?.state === 'running'

const planKey = (planId: string) => ['plan', planId]

/** Without an id nothing is fetched. */
export const usePlan = (planId: string | undefined) =>
  useQuery({
    queryKey: planKey(planId ?? ''),
    queryFn: planId === undefined ? skipToken : () => inFull(client.getPlan(planId)),
    // The stream of changes tells callers inside when a plan changes. Callers outside see it when they return to the page.
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? 1_000 : false),
  })

export const usePlans = () =>
  useInfiniteQuery({
    queryKey: ['plans'],
    queryFn: ({ pageParam }) => client.listPlans({ limit: '50', ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
