import { Client } from 'undici'
import { type Endpoint, formatEndpoint } from '../../model/address.ts'

const PATIENCE_MS = 3_000
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Whether a Drawbridge answers there: by its sign of life, and the request id that it gives every answer. */
export async function isService({ address, port, tls }: Endpoint & { readonly tls?: unknown }): Promise<boolean> {
  const reached = formatEndpoint({ address: EVERY_ADDRESS[address] ?? address, port })
  // Whose certificate it shows is not the question here.
  const options = { connect: { rejectUnauthorized: false }, pipelining: 0 }
  const client = new Client(`${tls ? 'https' : 'http'}://${reached}`, options)
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const { headers, body } = await client.request({ method: 'GET', path: '/livez', signal })
    await body.dump()
    return /^req_[0-9a-f]+$/.test(String(headers['x-request-id']))
  } catch {
    return false
  } finally {
    await client.destroy()
  }
}
