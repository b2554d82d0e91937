import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestLab } from './lab.ts'

/** A backend on the lab's server 25 that can be stopped and started again on the same port. */
export interface SwitchedBackend extends AsyncDisposable {
  readonly port: number
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startSwitchedBackend({ description }: TestLab, text: string): Promise<SwitchedBackend> {
  const address = description.backends.find(({ server }) => server === '25')?.address
  let server: Server | undefined
  let port = 0
  const start = async () => {
    server = createServer((_request, response) => response.end(text)).listen(port, address)
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    if (!server?.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  await start()
  return { port, start, stop, [Symbol.asyncDispose]: stop }
}
