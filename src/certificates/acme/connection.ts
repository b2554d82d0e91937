import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import { axios } from 'acme-client'
import { Agent, request } from 'undici'
import { IssueFault } from '../contract.ts'
import { readProblem, reasonOf } from './problem.ts'

const LARGEST_ANSWER = 256 * 1024

export interface ConnectionOptions {
  readonly directory: string
  /** PEM roots to trust in place of the system's. */
  readonly caFile?: string | undefined
  /** The limit of one request. */
  readonly requestMs: number
}

interface Connection {
  readonly authority: string
  readonly agent: Agent
  readonly requestMs: number
}

/**
 * All of `work` talks to the authority over connections of its own. acme-client has one axios for the whole program, so
 * whose trust and limits a request goes by is told by the asynchronous context that it is made in.
 */
export async function connected<T>(options: ConnectionOptions, work: () => Promise<T>): Promise<T> {
  const { directory, caFile, requestMs } = options
  const authority = new URL(directory).origin
  const ca = caFile === undefined ? undefined : await readRoots(caFile)
  const agent = new Agent({ connect: { ca }, pipelining: 0, maxResponseSize: LARGEST_ANSWER })
  try {
    return await current.run({ authority, agent, requestMs }, work)
  } finally {
    await agent.destroy()
  }
}

const current = new AsyncLocalStorage<Connection>()

const readRoots = (caFile: string): Promise<Buffer> =>
  readFile(caFile).catch((error: NodeJS.ErrnoException) => {
    throw new IssueFault('local', `The file ${caFile} with the authority's roots cannot be read (${error.code}).`)
  })

/**
 * In place of axios' own way to send, which follows redirects and takes in anything, and of acme-client's repetitions,
 * which would sleep for as long as a `Retry-After` says: what is no success is thrown here and passes through both.
 */
axios.defaults.adapter = async <C extends { url?: string; method?: string; data?: unknown }>(config: C) => {
  const connection = current.getStore()
  if (!connection) throw new Error('acme-client was used outside of a connection')
  const { status, headers, body } = await send(connection, config).catch((error: unknown) => {
    const reason = error instanceof ForeignAddress ? 'it hands out addresses of another origin' : reasonOf(error)
    throw new IssueFault(
      'unavailable',
      `The certificate authority at ${connection.authority} cannot be used: ${reason}.`,
    )
  })
  if (status < 200 || status > 299) throw readProblem(status, headers['retry-after'], body, Date.now())
  return { status, statusText: '', headers, data: body, config }
}

/** Every address after the directory's own is one that the authority handed out: it may not send us elsewhere. */
const isOf = (origin: string, url: string): boolean => URL.canParse(url) && new URL(url).origin === origin

/** What it is asked is signed with the account's key, for exactly that address. */
class ForeignAddress extends Error {}

async function send(
  { authority, agent, requestMs }: Connection,
  { url = '', method, data }: { url?: string; method?: string; data?: unknown },
) {
  if (!isOf(authority, url)) throw new ForeignAddress()
  const { statusCode, headers, body } = await request(url, {
    dispatcher: agent,
    method: method?.toUpperCase() === 'HEAD' ? 'HEAD' : data === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/jose+json', 'user-agent': 'drawbridge' },
    body: typeof data === 'string' ? data : null,
    signal: AbortSignal.timeout(requestMs),
  })
  const single = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return { status: statusCode, headers: Object.fromEntries(single) as Record<string, string>, body: await body.text() }
}
