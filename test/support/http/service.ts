import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble } from '../../../src/compose/assemble.ts'
import { readConfig } from '../../../src/config/config.ts'
import { secretsOf } from '../../../src/config/secrets.ts'
import type { Service } from '../../../src/operate/serve.ts'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { NOTHING_OF_ROOT } from '../edge/nginx.ts'
import { randomNetwork } from '../network.ts'
import { tempFolder } from '../temp-folder.ts'
import { type Answer, type Call, call, parsed } from './call.ts'

export interface TestService {
  readonly origin: string
  /** `127.x.y`: .23 is the Primary and the service, .25 and .253 are targets, .10 is an internal caller. */
  readonly network: string
  readonly service: Service
  readonly folder: string
  /** The whole log, as text. */
  readonly log: () => string
  call(request: Omit<Call, 'from'> & { from?: 'inside' | 'outside' | string }): Promise<Answer>
  stop(): Promise<void>
}

export interface ServiceOptions {
  /** More settings, as YAML. A setting here replaces the default with the same name. */
  readonly settings?: string
  readonly dns?: { readonly address: string; readonly port: number }
  /** The zones on that DNS server. */
  readonly zones?: readonly string[]
  readonly environment?: Record<string, string>
  readonly folder?: string
  readonly network?: string
  /** The wall time of the service. Its timers stay those of the machine. */
  readonly now?: () => number
  /** False: the service does not listen, and calls are handed to it directly. For tests that are not about sockets. */
  readonly sockets?: boolean
  /** The whole clock of the service. */
  readonly clock?: Clock
  /** Adds routes to the assembled service before it listens. */
  readonly mount?: (service: Service) => void
}

/** The whole service in this process, on loopback, with a new SQLite store. The caller provides the DNS server. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  if (options.folder !== undefined) return startIn(options.folder, options)
  const own = tempFolder()
  try {
    const api = await startIn(own.path, options)
    return { ...api, stop: () => api.stop().finally(() => own[Symbol.dispose]()) }
  } catch (error) {
    own[Symbol.dispose]()
    throw error
  }
}

async function startIn(folder: string, options: ServiceOptions): Promise<TestService> {
  const network = options.network ?? randomNetwork()
  const lines: string[] = []
  const config = readConfig(
    settingsText(options, network, folder),
    join(folder, 'drawbridge.yaml'),
    options.environment ?? {},
  )
  const log = createLog('trace', secretsOf(config), { write: (line) => void lines.push(line) })
  const { now = Date.now, clock = { ...systemClock, now } } = options
  const service = await assemble(config, log, { clock })
  options.mount?.(service)
  const { sockets = true } = options
  if (sockets) await service.app.listen({ host: config.listen.address, port: config.listen.port })
  else await service.app.ready()
  const reachedAt = config.listen.address === '::' ? `${network}.23` : config.listen.address
  const origin = `http://${reachedAt}:${config.listen.port}`
  const addresses: Record<string, string> = { inside: `${network}.10`, outside: '127.0.0.1' }
  return {
    origin,
    network,
    service,
    folder,
    log: () => lines.join(''),
    call: ({ from = 'inside', ...request }) => {
      const outgoing = { ...request, from: addresses[from] ?? from }
      return sockets ? call(origin, outgoing) : handed(service, origin, outgoing)
    },
    async stop() {
      await service.app.close()
      await service.trail.finish(clock.now())
      await service.store.close()
    },
  }
}

/** Hands a request to the service without a socket. It has the headers that a client would send. */
async function handed({ app }: Service, origin: string, { method, path, body, headers, from }: Call): Promise<Answer> {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const payload = body === undefined || isRaw ? body : JSON.stringify(body)
  const answer = await app.inject({
    method: (method ?? (body === undefined ? 'GET' : 'POST')) as 'GET',
    url: path,
    remoteAddress: from,
    headers: {
      host: new URL(origin).host,
      ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  })
  const text = answer.payload
  return { status: answer.statusCode, headers: answer.headers as Answer['headers'], text, body: parsed(text) }
}

/** The files of an nginx that does not run, in place of the machine's own, whose configuration is no matter of these tests. */
function ownNginx(folder: string): Readonly<Record<string, string>> {
  const at = (name: string) => join(folder, 'nginx', name)
  mkdirSync(at(''), { recursive: true })
  const config = at('nginx.conf')
  writeFileSync(
    config,
    `${NOTHING_OF_ROOT.main} events {}\nhttp { ${NOTHING_OF_ROOT.http} include drawbridge/*.conf; }\n`,
  )
  return { config, prefix: at(''), folder: at('drawbridge'), pidFile: at('nginx.pid'), errorLog: at('error.log') }
}

function settingsText(
  { settings = '', sockets = true, dns = { address: '127.0.0.1', port: 9 }, zones = ['lab.test'] }: ServiceOptions,
  network: string,
  folder: string,
): string {
  const defaults: Record<string, string> = {
    listen: `{ address: ${network}.23, port: 8045 }`,
    internalNetworks: `[${network}.0/24]`,
    stateDir: join(folder, 'state'),
    servers: `{ addresses: { 23: ${network}.23, 25: ${network}.25, 253: ${network}.253, 73: ${network}.73 } }`,
    edge: '{ http: 8080, https: 8443 }',
    edges: `{ 23: ${JSON.stringify(ownNginx(folder))} }`,
    zones: `{ ${zones.map((zone) => `${zone}: { primary: "${dns.address}:${dns.port}" }`).join(', ')} }`,
    acme: '{ directory: "https://127.0.0.1:9/dir" }',
    // Without a socket there is no own address that the Host header could name.
    ...(!sockets && { publicUrls: `["http://${network}.23:8045"]` }),
  }
  const replaced = new Set([...settings.matchAll(/^(\w+):/gm)].map(([, key]) => key))
  const kept = Object.entries(defaults).filter(([key]) => !replaced.has(key))
  return `${kept.map(([key, value]) => `${key}: ${value}`).join('\n')}\n${settings}\n`
}
