import { Agent, request } from 'node:http'
import type { LabDescription } from '../lab/description.ts'

/** Calls the service of the lab from the internal network over one kept-alive connection. Rejects on any status but 2xx. */
export class Caller {
  readonly #lab: LabDescription
  readonly #agent: Agent

  constructor(lab: LabDescription) {
    this.#lab = lab
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: lab.callers.internal })
  }

  get<T>(path: string): Promise<T> {
    return this.#request('GET', path, '', {})
  }

  post<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
    const text = JSON.stringify(body)
    const sent = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers }
    return this.#request('POST', path, text, sent)
  }

  #request<T>(method: string, path: string, text: string, headers: Record<string, string>): Promise<T> {
    return new Promise((done, failed) => {
      const outgoing = request(`${this.#lab.api}${path}`, { method, agent: this.#agent, headers }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => {
          const answer = Buffer.concat(chunks).toString()
          if ((incoming.statusCode ?? 0) < 300) done(JSON.parse(answer) as T)
          else failed(new Error(`${path} answered HTTP ${incoming.statusCode}: ${answer}`))
        })
      })
      outgoing.on('error', failed)
      outgoing.end(text)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
