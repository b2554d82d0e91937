import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import { join } from 'node:path'
import { apiCertificateFile } from '../../../lab/pebble.ts'
import { listening } from '../listening.ts'

/** An answer in place of Pebble's, no answer, or a lost answer of Pebble. */
export type AcmeFault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang'
  | 'lose_answer'

export interface AcmeFaultProxy extends AsyncDisposable {
  readonly directory: string
  /** Every request with the status of its answer; 0 for no answer. `/order-plz` is Pebble's path for a new order. */
  readonly seen: readonly { readonly path: string; readonly status: number }[]
  /** Sets the fault for the next requests. */
  readonly goWrong: (fault: (path: string) => AcmeFault | undefined) => void
}

/** A proxy in front of Pebble with the same certificate. Pebble builds its URLs from the Host header, so they point to the proxy. */
export async function startFaultProxy(
  pebbleFolder: string,
  pebblePort: number,
  address = '127.0.0.1',
): Promise<AcmeFaultProxy> {
  const cert = readFileSync(apiCertificateFile(pebbleFolder))
  const key = readFileSync(join(pebbleFolder, 'api-key.pem'))
  const seen: { path: string; status: number }[] = []
  let faultFor: (path: string) => AcmeFault | undefined = () => undefined

  const server = createServer({ cert, key }, (incoming, outgoing) => {
    const path = incoming.url ?? ''
    const fault = faultFor(path)
    const note = (status: number) => seen.push({ path, status })
    if (fault === 'hang') {
      note(0)
    } else if (typeof fault === 'object') {
      note(fault.status)
      outgoing.writeHead(fault.status, fault.headers).end(fault.body)
    } else {
      forward(incoming, outgoing, fault === 'lose_answer')
    }
  })
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, loses: boolean) => {
    const { method, headers, url: path } = incoming
    const onward = request({ host: address, port: pebblePort, ca: cert, agent: false, method, headers, path })
    onward.on('error', () => outgoing.destroy())
    onward.on('response', (answer) => {
      seen.push({ path: path ?? '', status: answer.statusCode ?? 0 })
      if (loses) outgoing.destroy()
      else answer.pipe(outgoing.writeHead(answer.statusCode ?? 0, answer.headers))
    })
    incoming.pipe(onward)
  }
  const listens = await listening(server, { address })
  return {
    ...listens,
    directory: `https://${address}:${listens.port}/dir`,
    seen,
    goWrong: (fault) => {
      faultFor = fault
    },
  }
}

/** An authorization with one dns-01 challenge, whose URL does not exist. */
export const authorizationAnswer = (host: string, token: string, challengeStatus = 'pending'): AcmeFault => ({
  status: 200,
  body: JSON.stringify({
    status: 'pending',
    identifier: { type: 'dns', value: host },
    challenges: [{ type: 'dns-01', status: challengeStatus, url: 'https://127.0.0.1:9/', token }],
  }),
})
