import { request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { EdgeDescription } from '../../../lab/description.ts'
import { type Answer, answered } from '../http/call.ts'

export interface Visit {
  readonly host: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The length of a body to post. Without it the visit is a GET. */
  readonly bodyLength?: number
  /** If set, the visit uses TLS and accepts only a certificate for the host from these roots. */
  readonly ca?: string | Buffer
  /** The address of the visitor. */
  readonly from?: string
  /** Called with each part of the body as it comes. */
  readonly onPart?: (part: string) => void
}

/** The answer of an edge to a visitor of a host. */
export function visit(
  { address, http, https }: EdgeDescription,
  { host, path = '/', headers = {}, bodyLength, ca, from, onPart }: Visit,
): Promise<Omit<Answer, 'body'>> {
  const options = {
    ...{ host: address, path, agent: false as const, headers: { ...headers, host } },
    ...(from !== undefined && { localAddress: from }),
    method: bodyLength === undefined ? 'GET' : 'POST',
  }
  const asking = ca
    ? requestSecurely({ ...options, port: https, servername: host, ca })
    : requestPlainly({ ...options, port: http })
  return answered(asking, bodyLength === undefined ? undefined : Buffer.alloc(bodyLength), onPart)
}
