import type { Exposure, StoreSession } from './contract.ts'

const AT_ONCE = 500

/** All exposures by host, never many of them in memory. One that comes or goes meanwhile may be met or not. */
export async function* eachExposure(store: Pick<StoreSession, 'listExposures'>): AsyncGenerator<Exposure> {
  for (let after = ''; ; ) {
    const page = await store.listExposures({ after, limit: AT_ONCE })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < AT_ONCE) return
    after = last.host
  }
}
