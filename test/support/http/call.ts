import { request } from 'node:http'

export interface Call {
  readonly method?: string
  readonly path: string
  /** An object is sent as JSON, text and bytes unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** The source address, which identifies the caller. */
  readonly from: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly body: any
}

/** Sends one request on a new connection from a chosen source address. */
export function call(origin: string, { method, path, body, headers = {}, from }: Call): Promise<Answer> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body)
  const payload = body === undefined || raw ? (body as string | Buffer | undefined) : JSON.stringify(body)
  const { hostname, port } = new URL(origin)
  return new Promise((answered, failed) => {
    const outgoing = request(
      {
        host: hostname,
        port,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        localAddress: from,
        agent: false,
        headers: {
          ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
          ...(payload !== undefined && { 'content-length': Buffer.byteLength(payload) }),
          ...headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', failed)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          answered({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parsed(text) })
        })
      },
    )
    outgoing.on('error', failed)
    outgoing.end(payload)
  })
}

/** The value of a JSON text. Undefined if it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
