import { request } from 'node:https'
import type { Endpoint } from '../lab/addresses.ts'

/** Whether a proxy passes a request for the host on. Caddy answers 200 without a body for a host that it does not know. */
export const isServed = ({ address, port }: Endpoint, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const tls = { servername: host, rejectUnauthorized: false, agent: false }
    const asked = request({ ...tls, host: address, port, headers: { host } }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      answer.once('end', () => resolve(answer.statusCode === 200 && bytes > 0))
    })
    asked.once('error', () => resolve(false))
    asked.end()
  })
