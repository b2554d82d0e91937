import type { Client } from 'openapi-fetch'
import type { Clock } from '../primitives/clock.ts'
import type { Plan, ProgressEvent } from './bodies.ts'
import { Refusal } from './refusal.ts'
import type { paths } from './schema.ts'
import type { StreamOptions } from './stream.ts'

export interface RunOptions {
  /** Called when a step of the run starts or ends. */
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined
}

export interface RepairOptions {
  /** Whether to overwrite what was changed outside Drawbridge. Default: false. */
  readonly overwrite?: boolean | undefined
}

interface Runner {
  readonly api: Client<paths>
  readonly answered: <T>(call: Promise<{ data?: T | undefined; error?: unknown }>) => Promise<T>
  readonly followPlan: (planId: string, options?: StreamOptions) => AsyncGenerator<ProgressEvent, void>
  readonly clock: Clock
}

type Headers = Record<string, string>

/** How long to wait for the last events after the response of the run. */
const LAST_EVENTS_MS = 2_000
const RECONNECT_MS = 100

type Right = 'apply' | 'remove' | 'repair' | 'accept' | 'renew' | 'adopt' | 'release'

/** To take a hand-written site under management is a right of its own, also where the same route applies the plan. */
export const rightToApply = ({ request }: { readonly request: Pick<Plan['request'], 'adopt'> }): 'apply' | 'adopt' =>
  request.adopt === undefined ? 'apply' : 'adopt'

/** Gets a capability and spends it at once; nothing keeps it. `right`: what it is for, where only the plan tells. */
export async function runPlan<T>(
  runner: Runner,
  planId: string,
  right: Right | ((plan: Plan) => Right),
  { onProgress }: RunOptions = {},
  spend: (headers: Headers) => Promise<T>,
): Promise<T> {
  const { api, answered, clock } = runner
  const read = () => answered(planCall(api, planId))
  const plan = onProgress && (await read())
  const earlier = plan && lastEventOf(plan)
  const action = typeof right === 'function' ? right(plan ?? (await read())) : right
  const { capability, header } = await answered(api.POST('/api/internal/token', { body: { planId, action } }))
  const running = spend({ [header]: capability })
  if (!onProgress) return running
  const over = new AbortController()
  const reported = reportProgress(runner, planId, earlier, onProgress, over.signal)
  try {
    const done = await running
    await Promise.race([reported, clock.sleep(LAST_EVENTS_MS, { signal: over.signal })])
    return done
  } catch (error) {
    if (hasStarted(error)) await Promise.race([reported, clock.sleep(LAST_EVENTS_MS, { signal: over.signal })])
    throw error
  } finally {
    over.abort()
  }
}

/** A request that was refused before the run started causes no events. */
const hasStarted = (error: unknown): boolean => error instanceof Refusal && 'steps' in error.problem

const planCall = (api: Client<paths>, planId: string) =>
  api.GET('/api/deploy/plans/{planId}', { params: { path: { planId } } })

/** The last event of the plan's earlier run. Events after it belong to the new run. */
const lastEventOf = ({ runs = [] }: Plan): string | undefined => runs.at(-1)?.events.at(-1)?.id

async function reportProgress(
  { followPlan, clock }: Runner,
  planId: string,
  lastEventId: string | undefined,
  onProgress: (event: ProgressEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let hasEvents = false
    try {
      for await (const event of followPlan(planId, { lastEventId, signal })) {
        hasEvents = true
        onProgress(event)
      }
    } catch {
      // The response of the run reports the failure. Progress is optional.
    }
    // Until the new run starts, the service sends the finished stream of the earlier run.
    if (hasEvents) return
    await clock.sleep(RECONNECT_MS, { signal })
  }
}
