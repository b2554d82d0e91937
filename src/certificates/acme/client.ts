import type { Clock } from '../../primitives/clock.ts'
import { IssueFault } from '../contract.ts'
import type { HttpResponse, Send } from './connection.ts'
import type { Signer } from './jws.ts'
import { AcmeProblem, readProblem, reasonOf } from './problem.ts'
import { type Endpoints, notAcme, readEndpoints } from './resources.ts'

/** An authority may reject any number of nonces. A rejected nonce means that the request had no effect. */
const NONCE_ATTEMPTS = 30

/** Who signs a request. Only a request for a new account is sent without an account URL. */
export interface Identity {
  readonly signer: Signer
  readonly accountUrl?: string | undefined
}

/** Signed requests to one authority (RFC 8555 section 6). Not for use after its connection is closed. */
export interface AcmeClient {
  /** Read once from the directory. */
  endpoints(): Promise<Endpoints>
  /**
   * Without a payload this reads the resource. A rejected nonce is retried; nothing else is. Rejects with AcmeProblem for
   * every status that is not 2xx, and with IssueFault when there is no usable response.
   */
  post(url: string, payload: object | undefined, identity: Identity): Promise<HttpResponse>
}

export function acmeClient(send: Send, directory: string, clock: Pick<Clock, 'now'>): AcmeClient {
  const nonces: string[] = []
  let directoryRead: Promise<Endpoints> | undefined

  const request = async (...parameters: Parameters<Send>): Promise<HttpResponse> => {
    const response = await send(...parameters).catch((error: unknown) => {
      const { origin } = new URL(directory)
      throw new IssueFault('unavailable', `The certificate authority at ${origin} cannot be used: ${reasonOf(error)}.`)
    })
    const { status, headers, body } = response
    const nonce = nonceIn(response)
    if (nonce) nonces.push(nonce)
    if (status < 200 || status > 299) throw readProblem(status, headers['retry-after'], body, clock.now())
    return response
  }
  const endpoints = (): Promise<Endpoints> => {
    directoryRead ??= request('GET', directory).then(({ body }) => readEndpoints(body))
    return directoryRead
  }
  const takeNonce = async (): Promise<string> => {
    for (;;) {
      const nonce = nonces.pop()
      if (nonce !== undefined) return nonce
      const response = await request('HEAD', (await endpoints()).newNonce)
      if (!nonceIn(response)) throw notAcme()
    }
  }
  const postOnce = async (url: string, payload: object | undefined, { signer, accountUrl }: Identity) => {
    const key = accountUrl === undefined ? { jwk: signer.jwk } : { kid: accountUrl }
    return request('POST', url, JSON.stringify(signer.sign({ ...key, nonce: await takeNonce(), url }, payload)))
  }
  return {
    endpoints,
    async post(...parameters) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await postOnce(...parameters)
        } catch (error) {
          if (!isProblem(error, 'badNonce') || attempt === NONCE_ATTEMPTS) throw error
        }
      }
    },
  }
}

export const isProblem = (error: unknown, type: string): boolean => error instanceof AcmeProblem && error.type === type

/** RFC 8555 section 6.5.1: a nonce with any other character is ignored. */
const nonceIn = ({ headers }: HttpResponse): string | undefined =>
  /^[A-Za-z0-9_-]+$/.exec(headers['replay-nonce'] ?? '')?.[0]
