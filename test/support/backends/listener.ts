import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createWebServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import type { Endpoint } from '../../../src/model/address.ts'
import { listening } from '../listening.ts'

/** A web server on exactly this address and port. */
export const listenWeb = (at: Endpoint, answer: RequestListener): Promise<AsyncDisposable> =>
  listening(createWebServer(answer), at)

/** A web server with TLS. */
export const listenSecurely = (
  at: Endpoint,
  pair: { readonly cert: Buffer; readonly key: Buffer },
): Promise<AsyncDisposable> =>
  listening(
    createSecureServer(pair, (_, response) => response.end()),
    at,
  )

/** Accepts connections and never answers. */
export const listenMutely = (at: Endpoint): Promise<AsyncDisposable> => listening(createServer(), at)

/** A stopped program with a full accept queue: the kernel drops every further connection, like a firewall. */
export async function listenFrozen({ address, port }: Endpoint): Promise<AsyncDisposable> {
  const program = `require('node:net').createServer().listen(${port}, '${address}', 1, () => console.log('up'))`
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  if (child.stdout) await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  const sockets: Socket[] = []
  while (await isTaken({ address, port }, sockets));
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

function isTaken({ address, port }: Endpoint, sockets: Socket[]): Promise<boolean> {
  const socket = connect({ host: address, port })
  sockets.push(socket)
  return new Promise((resolve) => {
    socket.on('error', () => resolve(false))
    socket.once('connect', () => resolve(true))
    socket.setTimeout(500, () => resolve(false))
  })
}
