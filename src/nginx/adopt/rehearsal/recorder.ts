import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Behaviour } from './questions.ts'

/** The request that a backend receives for a question. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly version: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Recorder {
  /** `address:port`. */
  readonly address: string
  /** The request with this id. Undefined if none has arrived. */
  taken(id: string): Recorded | undefined
  stop(): void
}

/** The header with the id of a question and the wanted behaviour. */
export const RECORDED = 'x-drawbridge-rehearsal'

/** The backend of all copies. It records its requests, and answers with the behaviour that a question names. */
export async function startRecorder(): Promise<Recorder> {
  const records = new Map<string, Recorded>()
  const record = (request: IncomingMessage, body: string): Behaviour => {
    const [id = '', behaviour = 'page'] = String(request.headers[RECORDED] ?? '').split(' ')
    const { method = '', url: path = '', httpVersion: version } = request
    const { [RECORDED]: _, ...headers } = headersOf(request.rawHeaders)
    records.set(id, { method, path, version, headers, body })
    return behaviour as Behaviour
  }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (part: string) => {
      body += part
    })
    request.on('error', () => undefined)
    request.on('end', () => answer(record(request, body), request, response, `http://${address}`))
  })
  server.on('upgrade', (request, socket) => {
    record(request, '')
    socket.on('error', () => undefined)
    socket.end(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`)
  })
  // Clients send only the head of an upload: record it without a body.
  server.on('checkContinue', (request, response) => answer(record(request, ''), request, response, ''))
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address,
    taken(id) {
      const found = records.get(id)
      records.delete(id)
      return found
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function headersOf(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    headers[name] = headers[name] === undefined ? (raw[at + 1] ?? '') : `${headers[name]} | ${raw[at + 1]}`
  }
  return headers
}

const PAGE = `<!doctype html><title>Recorder</title>${'<p>text</p>'.repeat(300)}`

function answer(behaviour: Behaviour, request: IncomingMessage, response: ServerResponse, own: string): void {
  const html = {
    'content-type': 'text/html',
    'x-powered-by': 'recorder',
    'set-cookie': 'a=b; Path=/; Domain=recorder.test',
  }
  const locations: Partial<Record<Behaviour, string>> = {
    host: `http://${request.headers.host ?? ''}/moved`,
    own: `${own}/moved`,
    relative: '/moved',
  }
  const location = locations[behaviour]
  if (location !== undefined) response.writeHead(302, { ...html, location }).end()
  else if (behaviour === 'headers') response.writeHead(200, { ...html, ...POLICIES }).end(PAGE)
  else response.writeHead({ missing: 404, fault: 503 }[behaviour as string] ?? 200, html).end(PAGE)
}

/** Headers that proxies add, replace or hide. */
const POLICIES = {
  'strict-transport-security': 'max-age=7',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'recorder',
  'referrer-policy': 'recorder',
  'x-robots-tag': 'recorder',
  'cross-origin-opener-policy': 'recorder',
  'cross-origin-resource-policy': 'recorder',
  'cross-origin-embedder-policy': 'recorder',
  'cache-control': 'max-age=7',
  etag: '"7"',
  'x-accel-expires': '7',
  'x-xss-protection': '7',
}
