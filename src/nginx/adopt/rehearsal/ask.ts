import { randomUUID } from 'node:crypto'
import { type ClientRequest, Agent as HttpAgent, request as requestPlainly } from 'node:http'
import { Agent as HttpsAgent, request as requestSecurely } from 'node:https'
import type { Clock } from '../../../primitives/clock.ts'
import type { Scheme } from './copy.ts'
import type { Question } from './questions.ts'
import { RECORDED, type Recorded, type Recorder } from './recorder.ts'

/** The result of a question: the answer to the visitor, and the request to the backend. */
export interface Outcome {
  /** `0` if the connection ended without an answer; `100` if the server accepted an upload. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly backend: Recorded | undefined
}

export interface Asking {
  readonly socketPath: string
  readonly scheme: Scheme
  readonly host: string
}

const LIMIT_MS = 10_000

/** Sends questions to one socket, over connections that stay open. */
export class Asker {
  readonly #recorder: Recorder
  readonly #clock: Clock
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true, rejectUnauthorized: false }),
  }

  constructor(recorder: Recorder, clock: Clock) {
    this.#recorder = recorder
    this.#clock = clock
  }

  async ask({ socketPath, scheme, host }: Asking, question: Question): Promise<Outcome> {
    const { method, path, headers = {}, upload, behaviour = 'page', body } = question
    // Unguessable: a local process that reaches the recorder could otherwise forge the record of a question.
    const id = randomUUID()
    const length = upload === undefined ? {} : { 'content-length': String(upload), expect: '100-continue' }
    const isAlone = upload !== undefined || headers.upgrade !== undefined
    const options = {
      ...{ socketPath, method, path, servername: host, agent: isAlone ? false : this.#agents[scheme] },
      ...{ rejectUnauthorized: false, setHost: false, signal: this.#clock.timeout(LIMIT_MS) },
      headers: { host, ...headers, ...length, [RECORDED]: `${id} ${behaviour}` },
    } as const
    const asking = scheme === 'https' ? requestSecurely(options) : requestPlainly(options)
    const seen = await answerOf(asking, body, upload !== undefined)
    return { ...seen, backend: upload === undefined ? this.#recorder.taken(id) : undefined }
  }

  close(): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }
}

function answerOf(
  asking: ClientRequest,
  body: string | undefined,
  isUpload: boolean,
): Promise<Omit<Outcome, 'backend'>> {
  const { promise, resolve } = Promise.withResolvers<Omit<Outcome, 'backend'>>()
  const none = (status: number) => {
    resolve({ status, headers: {}, body: '' })
    asking.destroy()
  }
  asking.on('error', () => none(0))
  asking.on('continue', () => none(100))
  asking.on('upgrade', (response, socket) => {
    socket.destroy()
    resolve({ status: response.statusCode ?? 0, headers: {}, body: '' })
  })
  asking.on('response', (response) => {
    let text = ''
    response.setEncoding('latin1').on('data', (part: string) => {
      text += part
    })
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value)
    const end = () => {
      resolve({ status: response.statusCode ?? 0, headers, body: text })
      if (isUpload) asking.destroy()
    }
    response.on('error', end).on('end', end)
  })
  if (isUpload) asking.flushHeaders()
  else asking.end(body)
  return promise
}
