import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { PROTOCOL, type WireDescription } from '../../../src/edge/wire/verbs.ts'
import { tempFolder } from '../temp-folder.ts'

export const DESCRIPTION: WireDescription = {
  protocol: PROTOCOL,
  version: '0.0.9',
  server: '23',
  boot: 'b',
  pid: 1,
  epoch: 0,
  floors: [],
  generation: null,
  rights: { user: 0, signalsNginx: true, writesFolder: true },
  nginx: {
    isRunning: true,
    folder: '/etc/nginx/drawbridge',
    address: '127.0.0.1',
    listen: ['127.0.0.1'],
    ports: { http: 80, https: 443 },
  },
}

/** What a verb is answered with: an answer, or something that writes the response itself. A verb without one is unknown. */
type Lies = Record<string, object | ((response: ServerResponse) => void)>

export interface LyingAgent extends AsyncDisposable {
  readonly socket: string
  /** By verb. May be changed at any time. */
  readonly says: Lies
  /** The bodies of the messages so far, with their verbs. */
  readonly asked: { readonly verb: string; readonly body: string }[]
}

/** Stands where an agent should, on a unix socket, and tells the service whatever a test likes. */
export async function startLyingAgent(lies: Lies = {}): Promise<LyingAgent> {
  const folder = tempFolder()
  const socket = join(folder.path, 'edge.sock')
  const says: Lies = { describe: { answer: DESCRIPTION }, ...lies }
  const asked: { verb: string; body: string }[] = []
  const server = createServer((request, response) => {
    const verb = request.url?.split('/').at(-1) ?? ''
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => asked.push({ verb, body }))
    const said = says[verb]
    if (typeof said === 'function') return void said(response)
    response.writeHead(said === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(said ?? { error: 'There is no such verb.' }))
  })
  await new Promise<void>((resolve) => void server.listen(socket, resolve))
  return {
    socket,
    says,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      folder[Symbol.dispose]()
    },
  }
}
