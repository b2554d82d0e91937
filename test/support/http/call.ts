import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'

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
export async function call(origin: string, { method, path, body, headers = {}, from }: Call): Promise<Answer> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body)
  const payload = body === undefined || raw ? (body as string | Buffer | undefined) : JSON.stringify(body)
  const { hostname, port } = new URL(origin)
  const answer = await answered(
    request({
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
    }),
    payload,
  )
  return { ...answer, body: parsed(answer.text) }
}

/** Sends a request and reads its answer to the end. `onPart` is called with each part of the text as it comes. */
export async function answered(
  asking: ClientRequest,
  body?: string | Buffer,
  onPart?: (part: string) => void,
): Promise<Omit<Answer, 'body'>> {
  // The other side may end the connection before it has read a body that is too large. Its answer counts.
  asking.on('error', () => undefined)
  asking.end(body)
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part
    onPart?.(part)
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

/** The body of an answer. Throws if the answer has another status. */
export function expected(answer: Answer, status: number): Answer['body'] {
  if (answer.status !== status) throw new Error(`Expected HTTP ${status}, got ${answer.status}: ${answer.text}`)
  return answer.body
}

/** The value of a JSON text. Undefined if it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
