import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { startDaemon } from '../lab/daemon.ts'
import { isServed } from './is-served.ts'
import { BENCH_PLACE } from './place.ts'

const READY_WITHIN_MS = 120_000
const ADDRESS = `${BENCH_PLACE.network}.80`
const ADMIN_PORT = 2019
const HTTPS_PORT = 8443
const SERVED = { address: ADDRESS, port: HTTPS_PORT }
const ROUTES = '/config/apps/http/servers/bench/routes'

export interface CaddyOptions {
  readonly program: string
  readonly folder: string
  readonly hosts: readonly string[]
  readonly target: string
  readonly certificates: readonly { readonly certificate: string; readonly key: string }[]
}

export interface Caddy {
  readonly address: string
  readonly port: number
  /** Adds a route by the admin API. Resolves when the host is served. */
  add(host: string): Promise<void>
  remove(host: string): Promise<void>
  stop(): Promise<void>
}

/** A Caddy with one route per host and certificates from files. It orders none itself. */
export async function startCaddy(options: CaddyOptions): Promise<Caddy> {
  const { program, folder, hosts, target } = options
  const config = join(folder, 'caddy.json')
  writeFileSync(config, JSON.stringify(configOf(options)))
  const daemon = await startDaemon({
    name: 'Caddy',
    program,
    args: ['run', '--config', config],
    logFile: join(folder, 'caddy.log'),
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    readyWithinMs: READY_WITHIN_MS,
    isReady: async () => hosts[0] !== undefined && (await isServed(SERVED, hosts[0])),
  })
  return {
    address: ADDRESS,
    port: HTTPS_PORT,
    async add(host) {
      await administer('POST', ROUTES, routeOf(host, target))
      while (!(await isServed(SERVED, host)));
    },
    remove: (host) => administer('DELETE', `/id/${host}`),
    stop: () => daemon.stop(),
  }
}

function configOf({ folder, hosts, target, certificates }: CaddyOptions): unknown {
  const server = {
    listen: [`${ADDRESS}:${HTTPS_PORT}`],
    automatic_https: { disable: true },
    tls_connection_policies: [{}],
    routes: hosts.map((host) => routeOf(host, target)),
  }
  return {
    admin: { listen: `${ADDRESS}:${ADMIN_PORT}`, config: { persist: false } },
    logging: { logs: { default: { level: 'ERROR' } } },
    storage: { module: 'file_system', root: folder },
    apps: {
      http: { servers: { bench: server } },
      tls: { certificates: { load_files: certificates } },
    },
  }
}

const routeOf = (host: string, target: string): unknown => ({
  '@id': host,
  match: [{ host: [host] }],
  handle: [{ handler: 'reverse_proxy', upstreams: [{ dial: new URL(target).host }] }],
})

/** Caddy answers when the new configuration is in force. */
function administer(method: string, path: string, body?: unknown): Promise<void> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  return new Promise((resolve, reject) => {
    const asked = request({ host: ADDRESS, port: ADMIN_PORT, method, path, headers, agent: false }, (answer) => {
      answer.resume()
      answer.once('end', () =>
        answer.statusCode === 200
          ? resolve()
          : reject(new Error(`Caddy answered HTTP ${answer.statusCode} to ${method} ${path}.`)),
      )
    })
    asked.once('error', reject)
    asked.end(text)
  })
}
