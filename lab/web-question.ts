import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

const TIMEOUT_MS = 1_000

export interface Answer {
  readonly status: number
  readonly body: string
}

/** The answer to a GET request, or undefined without an answer. `ca`: PEM of the trusted certificates. */
export const get = (url: string, ca?: string): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const send = url.startsWith('https:') ? getHttps : getHttp
    const request = send(url, { ca, agent: false, timeout: TIMEOUT_MS }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }))
      response.once('error', () => resolve(undefined))
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(undefined))
    request.once('close', () => resolve(undefined))
  })

export const httpStatus = async (url: string, ca?: string): Promise<number | undefined> => (await get(url, ca))?.status
