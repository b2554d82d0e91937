import { request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { EdgeDescription } from '../../../lab/description.ts'

export interface Visit {
  readonly host: string
  readonly path?: string
  /** If set, the visit uses TLS and accepts only a certificate for the host from these roots. */
  readonly ca?: string | Buffer
}

/** The answer of an edge to a visitor of a host. */
export function visit(
  edge: EdgeDescription,
  { host, path = '/', ca }: Visit,
): Promise<{ status: number; text: string }> {
  const { address, http, https } = edge
  const options = { host: address, path, headers: { host }, agent: false as const }
  return new Promise((resolve, reject) => {
    const asking = ca
      ? requestSecurely({ ...options, port: https, servername: host, ca })
      : requestPlainly({ ...options, port: http })
    asking.on('error', reject)
    asking.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asking.end()
  })
}
