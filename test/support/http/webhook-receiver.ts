import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

interface Received {
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  readonly body: any
}

/** A webhook receiver that verifies messages with the standardwebhooks library and ignores repeated ids. */
export class WebhookReceiver {
  readonly #verifier: Webhook
  readonly #seen = new Map<string, Received>()
  readonly #server: Server
  /** The answer to every message. `hang`: never answers. */
  mode: 'ok' | 'fail' | 'hang' | 'redirect' = 'ok'
  /** All messages, including repeated and refused ones. */
  tries = 0
  readonly forged: string[] = []
  #port = 0

  constructor(secret: string) {
    this.#verifier = new Webhook(secret)
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        this.tries += 1
        if (this.mode === 'hang') return
        if (this.mode === 'fail') return void response.writeHead(500).end('the receiver is ill')
        if (this.mode === 'redirect') return void response.writeHead(307, { location: '/elsewhere' }).end()
        this.#take(Buffer.concat(parts).toString(), request.headers as Record<string, string>)
        response.writeHead(204).end()
      })
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  /** In the order of first arrival. */
  get received(): readonly Received[] {
    return [...this.#seen.values()]
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #take(text: string, headers: Record<string, string>): void {
    const id = headers['webhook-id'] ?? ''
    try {
      this.#verifier.verify(text, headers)
    } catch {
      this.forged.push(id)
      return
    }
    if (!this.#seen.has(id)) this.#seen.set(id, { id, body: JSON.parse(text) })
  }
}
