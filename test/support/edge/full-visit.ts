import { request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { EdgeDescription } from '../../../lab/description.ts'

export interface FullVisit {
  readonly host: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The length of a body to post. Without it the visit is a GET. */
  readonly bodyLength?: number
  /** If set, the visit uses TLS with these roots. */
  readonly ca?: string | Buffer
  /** The address of the visitor. */
  readonly from?: string
  /** Called with each part of the body as it comes. */
  readonly onPart?: (part: string) => void
}

/** The answer of an edge with its headers. */
export function visitFully(
  { address, http, https }: EdgeDescription,
  { host, path = '/', headers = {}, bodyLength, ca, from, onPart }: FullVisit,
): Promise<{ status: number; headers: Readonly<Record<string, string | string[] | undefined>>; text: string }> {
  const options = {
    ...{ host: address, path, agent: false as const, headers: { ...headers, host } },
    ...(from !== undefined && { localAddress: from }),
    method: bodyLength === undefined ? 'GET' : 'POST',
  }
  return new Promise((resolve, reject) => {
    const asking = ca
      ? requestSecurely({ ...options, port: https, servername: host, ca })
      : requestPlainly({ ...options, port: http })
    // nginx may end the connection before it has read a body that is too large.
    let isAnswered = false
    asking.on('error', (error) => isAnswered || reject(error))
    asking.on('response', (response) => {
      isAnswered = true
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        onPart?.(part)
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    asking.end(bodyLength === undefined ? undefined : Buffer.alloc(bodyLength))
  })
}
