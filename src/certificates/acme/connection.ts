import { readFile } from 'node:fs/promises'
import type { Clock } from '../../primitives/clock.ts'
import { IssueFault } from '../contract.ts'

export interface ConnectionOptions {
  /** URL of the authority's directory. A request to any other origin is refused: it would be the authority's choice. */
  readonly directory: string
  /** PEM file with the roots to trust instead of the system's. */
  readonly caFile?: string | undefined
  /** Time limit of one request in milliseconds, its response body included. */
  readonly requestMs: number
  /** A response body that is longer is an error. */
  readonly maxBytes: number
  readonly clock: Clock
  /** Ends a request that is under way. */
  readonly signal?: AbortSignal | undefined
}

export interface HttpResponse {
  readonly status: number
  /** By name in lower case. A header that was sent more than once is left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Sends one request and reads the whole response, whatever its status. Redirects are not followed. Rejects when there is no
 * response, and with ForeignOrigin before anything is sent.
 */
export type Send = (method: 'GET' | 'HEAD' | 'POST', url: string, body?: string) => Promise<HttpResponse>

/** Shorter than any server's idle limit: a request on a connection that the server is closing would be lost. */
const IDLE_MS = 1_000

/** Runs `work` with a sender of its own and closes every connection afterwards. Rejects with IssueFault when the roots cannot be read. */
export async function withConnection<T>(options: ConnectionOptions, work: (send: Send) => Promise<T>): Promise<T> {
  const { directory, caFile, requestMs, maxBytes, clock, signal } = options
  const ca = caFile === undefined ? undefined : await readRoots(caFile)
  // Loaded on first use: a service that never contacts an authority does not pay for it.
  const { Agent, request } = await import('undici')
  const agent = new Agent({
    connect: { ca },
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxResponseSize: maxBytes,
  })
  const send: Send = async (method, url, content) => {
    if (!isSameOrigin(directory, url)) throw new ForeignOrigin()
    const type = content === undefined ? { accept: 'application/json' } : { 'content-type': 'application/jose+json' }
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      method,
      headers: { ...type, 'user-agent': 'drawbridge' },
      body: content ?? null,
      signal: AbortSignal.any([clock.timeout(requestMs), ...(signal ? [signal] : [])]),
    })
    return { status: statusCode, headers: singleValues(headers), body: await body.text() }
  }
  try {
    return await work(send)
  } finally {
    await agent.destroy()
  }
}

export class ForeignOrigin extends Error {
  override readonly name = 'ForeignOrigin'
}

export const isSameOrigin = (directory: string, url: string): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(directory).origin

const singleValues = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )

const readRoots = (caFile: string): Promise<Buffer> =>
  readFile(caFile).catch((error: NodeJS.ErrnoException) => {
    throw new IssueFault(
      'local',
      `The file ${caFile} with the authority's root certificates cannot be read (${error.code}).`,
    )
  })
