import { createServer, type Server } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { type Listening, listening } from '../listening.ts'

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
  #listens: Listening | undefined

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
    return `http://127.0.0.1:${this.#listens?.port}/hook`
  }

  /** In the order of first arrival. */
  get received(): readonly Received[] {
    return [...this.#seen.values()]
  }

  async listen(): Promise<void> {
    this.#listens = await listening(this.#server, { port: this.#listens?.port ?? 0 })
  }

  async close(): Promise<void> {
    await this.#listens?.[Symbol.asyncDispose]()
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
