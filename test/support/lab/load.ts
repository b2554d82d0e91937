import { Agent, request } from 'node:http'
import type { EdgeDescription } from '../../../lab/description.ts'

export interface Load {
  /** Stops the load. Resolves with the number of good answers and the failures. */
  stop(): Promise<{ readonly served: number; readonly failures: readonly string[] }>
}

/** Visitors of a host who send requests without a pause, some on one connection, some on a new one each time. */
export function startLoad(edge: EdgeDescription, host: string, path: string): Load {
  const kept = new Agent({ keepAlive: true })
  const failures: string[] = []
  let served = 0
  let isOver = false
  const visitor = async (agent: Agent | false) => {
    while (!isOver) {
      const outcome = await once(edge, host, path, agent)
      if (outcome === 200) served += 1
      else failures.push(`${outcome} on a ${agent ? 'kept' : 'new'} connection`)
    }
  }
  const visitors = [kept, kept, false as const, false as const].map(visitor)
  return {
    async stop() {
      isOver = true
      await Promise.all(visitors)
      kept.destroy()
      return { served, failures }
    },
  }
}

/** A kept connection that the server closed before the request is retried, as every client does. */
async function once(edge: EdgeDescription, host: string, path: string, agent: Agent | false): Promise<number | string> {
  const { outcome, neverAsked } = await ask(edge, host, path, agent)
  return neverAsked ? once(edge, host, path, false) : outcome
}

function ask({ address, http }: EdgeDescription, host: string, path: string, agent: Agent | false) {
  return new Promise<{ outcome: number | string; neverAsked: boolean }>((resolve) => {
    const asking = request({ host: address, port: http, path, headers: { host }, agent, timeout: 10_000 })
    asking.on('timeout', () => asking.destroy(new Error('timeout')))
    asking.on('error', (error: NodeJS.ErrnoException) => {
      const neverAsked = asking.reusedSocket && error.code === 'ECONNRESET'
      resolve({ outcome: error.code ?? error.message, neverAsked })
    })
    asking.on('response', (response) => {
      response.resume()
      response.on('error', (error) => resolve({ outcome: error.message, neverAsked: false }))
      response.on('end', () => resolve({ outcome: response.statusCode ?? 0, neverAsked: false }))
    })
    asking.end()
  })
}
