import { once } from 'node:events'
import { createServer } from 'node:http'
import type { TestLab } from '../lab/lab.ts'
import { listening } from '../listening.ts'

/** A backend on the lab's server 25 that can be stopped and started again on the same port. */
export interface SwitchedBackend extends AsyncDisposable {
  readonly port: number
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startSwitchedBackend({ description }: TestLab, text: string): Promise<SwitchedBackend> {
  const address = description.backends.find(({ server }) => server === '25')?.address
  const server = createServer((_request, response) => response.end(text))
  const { port, [Symbol.asyncDispose]: stop } = await listening(server, { address })
  const start = async () => void (await once(server.listen(port, address), 'listening'))
  return { port, start, stop, [Symbol.asyncDispose]: stop }
}
