import { Agent, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import type { EdgeDescription } from '../../../lab/description.ts'
import { takes } from '../delay.ts'

export interface Load {
  /** Stops the load. Resolves with the number of good answers and the failures. */
  stop(): Promise<{ readonly served: number; readonly failures: readonly string[] }>
}

interface LoadOptions {
  /** The visitors use TLS. They accept any certificate. */
  readonly tls?: boolean
  /** The requests per second of all visitors together. By default each visitor sends its next request at once. */
  readonly perSecond?: number
}

/** The host that is visited, and how. */
interface Visited extends LoadOptions {
  readonly edge: EdgeDescription
  readonly host: string
  readonly path: string
}

/** Visitors of a host who send requests all the time, some on one connection, some on a new one each time. */
export function startLoad(edge: EdgeDescription, host: string, path: string, options: LoadOptions = {}): Load {
  const visited = { edge, host, path, ...options }
  const kept = options.tls ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  const connections = [kept, kept, false as const, false as const]
  const pauseMs = options.perSecond ? (connections.length * 1000) / options.perSecond : 0
  const failures: string[] = []
  let served = 0
  let isOver = false
  const visitor = async (agent: Agent | false) => {
    // The time of the next request does not depend on how long the answer takes: a slow answer must not reduce the load.
    for (let due = performance.now(); !isOver; due += pauseMs) {
      if (pauseMs > 0) await takes(Math.max(0, due - performance.now()))
      const outcome = await once(visited, agent)
      if (outcome === 200) served += 1
      else failures.push(`${outcome} on a ${agent ? 'kept' : 'new'} connection`)
    }
  }
  const visitors = connections.map(visitor)
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
async function once(visited: Visited, agent: Agent | false): Promise<number | string> {
  const { outcome, neverAsked } = await ask(visited, agent)
  return neverAsked ? once(visited, false) : outcome
}

function ask({ edge, host, path, tls }: Visited, agent: Agent | false) {
  const { address, http, https } = edge
  const options = { host: address, path, headers: { host }, agent, timeout: 10_000 }
  return new Promise<{ outcome: number | string; neverAsked: boolean }>((resolve) => {
    const asking = tls
      ? secureRequest({ ...options, port: https, servername: host, rejectUnauthorized: false })
      : request({ ...options, port: http })
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
