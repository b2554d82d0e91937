import { connect } from 'node:net'

export interface RawAnswer {
  /** Everything that came back. */
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

/** Sends bytes as they are and reads until the other side ends the connection, or says nothing more for a while. */
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
    // A reset is an ending, too: what was answered before it counts.
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A request as lines; the Host is ours and the connection ends after it unless the lines say otherwise. */
export const rawRequest = (origin: string, first: string, ...headers: string[]): string => {
  const host = headers.some((header) => /^host\b/i.test(header)) ? [] : [`Host: ${new URL(origin).host}`]
  return `${[first, ...host, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`
}
