import { createServer, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { TestLab } from '../lab/lab.ts'
import { listening } from '../listening.ts'

export interface RecordingProxy {
  readonly url: string
  /** Every capability that the service issued through the proxy. */
  readonly capabilities: readonly string[]
  /** How often each capability was sent to the service. */
  readonly spent: readonly string[]
  close(): Promise<void>
}

/** A proxy between a client and the lab's service. It connects from the internal network and records the capabilities. */
export async function startRecordingProxy({ description }: TestLab): Promise<RecordingProxy> {
  const { hostname, port, host } = new URL(description.api)
  const capabilities: string[] = []
  const spent: string[] = []
  const server = createServer((incoming, outgoing) => {
    const sent = incoming.headers['x-deploy-capability']
    if (typeof sent === 'string') spent.push(sent)
    const passed = request(
      {
        host: hostname,
        port,
        method: incoming.method,
        path: incoming.url,
        headers: { ...incoming.headers, host },
        localAddress: description.callers.internal,
        agent: false,
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        if (incoming.url === '/api/internal/token') void record(answer, capabilities)
        answer.pipe(outgoing)
      },
    )
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  const { port: own, [Symbol.asyncDispose]: close } = await listening(server)
  return { url: `http://127.0.0.1:${own}`, capabilities, spent, close }
}

async function record(answer: IncomingMessage, capabilities: string[]): Promise<void> {
  const { capability } = (await json(answer)) as { capability?: string }
  if (capability !== undefined) capabilities.push(capability)
}
