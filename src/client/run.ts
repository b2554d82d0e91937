import type { Client } from 'openapi-fetch'
import type { Plan, ProgressEvent } from './bodies.ts'
import { Refusal } from './refusal.ts'
import type { paths } from './schema.ts'
import type { StreamOptions } from './stream.ts'

export interface RunOptions {
  /** Hears every step of the run as it starts and ends. */
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined
}

interface Runner {
  readonly api: Client<paths>
  readonly answered: <T>(call: Promise<{ data?: T | undefined; error?: unknown }>) => Promise<T>
  readonly followPlan: (planId: string, options?: StreamOptions) => AsyncGenerator<ProgressEvent, void>
}

type Headers = Record<string, string>

/** How long the last events of a run may come after its answer. */
const LAST_WORDS_MS = 2_000
const LOOK_AGAIN_MS = 100

/** Gets the one-time right, spends it in the same breath and forgets it. */
export async function runPlan<T>(
  { api, answered, followPlan }: Runner,
  planId: string,
  action: 'apply' | 'remove' | 'renew',
  { onProgress }: RunOptions = {},
  spend: (headers: Headers) => Promise<T>,
): Promise<T> {
  const earlier = onProgress && (await lastEventOf(await answered(planCall(api, planId))))
  const { capability, header } = await answered(api.POST('/api/internal/token', { body: { planId, action } }))
  const running = spend({ [header]: capability })
  if (!onProgress) return running
  const over = new AbortController()
  const told = tellProgress(followPlan, planId, earlier, onProgress, over.signal)
  try {
    const done = await running
    await Promise.race([told, sleep(LAST_WORDS_MS, over.signal)])
    return done
  } catch (error) {
    if (hasBegun(error)) await Promise.race([told, sleep(LAST_WORDS_MS, over.signal)])
    throw error
  } finally {
    over.abort()
  }
}

/** What was refused before it began has nothing more to tell. */
const hasBegun = (error: unknown): boolean => error instanceof Refusal && 'steps' in error.problem

const planCall = (api: Client<paths>, planId: string) =>
  api.GET('/api/deploy/plans/{planId}', { params: { path: { planId } } })

/** Where the stream of an earlier run of this plan ends: what comes after it belongs to the new one. */
const lastEventOf = async ({ runs = [] }: Plan): Promise<string | undefined> => runs.at(-1)?.events.at(-1)?.id

async function tellProgress(
  followPlan: Runner['followPlan'],
  planId: string,
  lastEventId: string | undefined,
  onProgress: (event: ProgressEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let heard = false
    try {
      for await (const event of followPlan(planId, { lastEventId, signal })) {
        heard = true
        onProgress(event)
      }
    } catch {
      // The answer of the run itself says what is wrong; progress is only told where it can be.
    }
    // Until the new run has begun, the stream of the earlier one ends at once.
    if (heard) return
    await sleep(LOOK_AGAIN_MS, signal)
  }
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
