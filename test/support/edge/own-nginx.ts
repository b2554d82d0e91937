import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { connect } from 'node:tls'
import { type Daemon, startDaemon } from '../../../lab/daemon.ts'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import type { EdgeSettings } from '../../../src/estate/settings.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { answered } from '../http/call.ts'
import { randomNetwork } from '../network.ts'
import { tempFolder } from '../temp-folder.ts'
import { temporaryIn } from './nginx.ts'
import { makeCertificate } from './openssl.ts'

/** An nginx with the sites of an administrator, before Drawbridge comes. */
export interface OwnNginx extends EdgeSettings, AsyncDisposable {
  readonly prefix: string
  readonly daemon: Daemon
  path(name: string): string
  write(name: string, text: string): void
  stop(): Promise<void>
}

export interface Ports {
  readonly http: number
  readonly https: number
  readonly address: string
  /** The folder of nginx. */
  readonly prefix: string
}

/** Files below the folder of nginx, by name. */
export type Sites = (at: Ports) => Readonly<Record<string, string>>

/** The line that an administrator adds for Drawbridge. */
export const INCLUDE = 'include drawbridge/*.conf;'

/** nginx.conf as Debian installs it, without what needs its own folders. */
export const debianMain = (prefix: string, last = INCLUDE): string => `user www-data;
worker_processes auto;
pid ${prefix}/nginx.pid;
error_log ${prefix}/error.log;

events {
\tworker_connections 768;
}

http {
\tsendfile on;
\ttcp_nopush on;
\ttypes_hash_max_size 2048;

\tdefault_type application/octet-stream;

\tssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; # Dropping SSLv3, ref: POODLE
\tssl_prefer_server_ciphers on;

\taccess_log off;
\t${temporaryIn(`${prefix}/`)}

\tgzip on;

\tinclude ${prefix}/conf.d/*.conf;
\tinclude ${prefix}/sites-enabled/*;
${last === '' ? '' : `\t${last}\n`}}
`

/** sites-available/default as Debian installs it. */
export const debianSite = ({ http, prefix }: Ports): string => `server {
\tlisten ${http} default_server;
\tlisten [::]:${http} default_server;

\troot ${prefix}/html;
\tindex index.html;
\tserver_name _;

\tlocation / {
\t\ttry_files $uri $uri/ =404;
\t}
}
`

/** Starts nginx on free ports. `sites` may replace nginx.conf. */
export async function startOwnNginx(sites: Sites): Promise<OwnNginx> {
  const folder = tempFolder()
  const prefix = join(folder.path, 'nginx')
  const address = `${randomNetwork()}.23`
  const ports = { http: await freePort('0.0.0.0'), https: await freePort('0.0.0.0') }
  const at = { ...ports, address, prefix }
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(prefix, name)), { recursive: true, mode: 0o755 })
    writeFileSync(join(prefix, name), text)
  }
  for (const name of ['conf.d', 'sites-enabled', 'html']) mkdirSync(join(prefix, name), { recursive: true })
  await makeCertificate({ certificate: join(prefix, 'own.crt'), key: join(prefix, 'own.key'), names: ['DNS:own.test'] })
  const files = { 'nginx.conf': debianMain(prefix), 'html/index.html': 'Welcome to nginx!\n', ...sites(at) }
  for (const [name, text] of Object.entries(files)) write(name, text)
  const binary = findProgram('nginx', 'nginx')
  const config = join(prefix, 'nginx.conf')
  const errorLog = join(prefix, 'error.log')
  const pidFile = join(prefix, 'nginx.pid')
  const daemon = await startDaemon({
    name: 'nginx of an administrator',
    program: binary,
    args: ['-e', errorLog, '-p', prefix, '-c', config, '-g', 'daemon off;'],
    logFile: join(prefix, 'output.log'),
    isReady: async () => textOf(pidFile) !== '',
  }).catch((error: unknown) => {
    folder[Symbol.dispose]()
    throw error
  })
  const stop = async () => {
    await daemon.stop()
    folder[Symbol.dispose]()
  }
  return {
    ...{ server: '23', config, folder: join(prefix, 'drawbridge'), prefix, binary, pidFile, errorLog },
    ...{ address, listen: [address], ports, clock: systemClock, daemon, write },
    path: (name) => join(prefix, name),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

interface At {
  readonly address: string
  readonly port: number
}

/** What a visitor gets over HTTP: the status, the `Location` and the text; or why there is no answer. */
export const askPlainly = ({ address, port }: At, host: string): Promise<string> =>
  answered(request({ host: address, port, headers: { host }, agent: false })).then(
    ({ status, headers, text }) => [status, headers.location ?? '', text.trim()].join(' '),
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )

/** What a visitor gets over TLS, with HTTP/1.1: protocol, ALPN, certificate and answer; or why there is none. */
export function askSecurely(
  { address, port }: At,
  host: string | undefined,
  protocol: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3',
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host: address, port, rejectUnauthorized: false, minVersion: protocol, maxVersion: protocol },
      ...{ servername: host ?? '', ALPNProtocols: ['h2', 'http/1.1'] },
    })
    let text = ''
    let seen = ''
    socket.setTimeout(10_000, () => socket.destroy(new Error('timeout')))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.once('secureConnect', () => {
      const { fingerprint256 } = socket.getPeerCertificate()
      seen = `${socket.getProtocol()} ${socket.alpnProtocol} ${fingerprint256.slice(0, 17)}`
      // HTTP/2 is seen above. Its frames are not spoken here.
      if (socket.alpnProtocol === 'h2') {
        socket.destroy()
        resolve(seen)
      } else socket.write(`GET / HTTP/1.1\r\nHost: ${host ?? 'nobody.test'}\r\nConnection: close\r\n\r\n`)
    })
    socket.on('data', (part) => {
      text += part.toString('utf8')
    })
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const location = /^location: (.*)$/im.exec(head)?.[1] ?? ''
      resolve([seen, head.split('\r\n')[0], location, body.trim()].join(' | '))
    })
  })
}
