import { connect } from 'node:net'
import { parsed } from './call.ts'

export interface RawAnswer {
  /** All bytes of the answer, as text. */
  readonly text: string
  /** The status of each answer, in order. */
  readonly statuses: readonly number[]
  /** The body of the first answer, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly body: any
  /** Whether the other side ended the connection. */
  readonly closed: boolean
}

const PATIENCE_MS = 1_500

/** Sends the bytes unchanged and reads until the other side closes the connection or is silent for a while. */
export function sendRaw(origin: string, from: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin)
  return new Promise((answered) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: from })
    const chunks: Buffer[] = []
    const finish = (closed: boolean) => {
      socket.destroy()
      answered(readAnswer(Buffer.concat(chunks).toString(), closed))
    }
    socket.setTimeout(PATIENCE_MS, () => finish(false))
    socket.on('data', (chunk) => chunks.push(chunk))
    // A reset also ends the connection: the answer before it counts.
    socket.on('error', () => finish(true))
    socket.on('end', () => finish(true))
    socket.write(bytes)
  })
}

function readAnswer(text: string, closed: boolean): RawAnswer {
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  const [, body = ''] = text.split('\r\n\r\n')
  return { text, statuses, body: parsed(body), closed }
}

/** A request from header lines. Adds the right Host and `Connection: close` unless the lines contain them. */
export const rawRequest = (origin: string, first: string, ...headers: string[]): string => {
  const host = headers.some((header) => /^host\b/i.test(header)) ? [] : [`Host: ${new URL(origin).host}`]
  return `${[first, ...host, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`
}
