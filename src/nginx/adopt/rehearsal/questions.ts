/** How the recorder answers. `host`: redirects to the Host that it received. `own`: redirects to its own address. */
export type Behaviour = 'page' | 'host' | 'own' | 'relative' | 'headers' | 'missing' | 'fault'

export interface Question {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Only the head of the request is sent, with this length of its body. */
  readonly upload?: number
  readonly behaviour?: Behaviour
}

const MEGABYTE = 1024 * 1024

/** The requests of a rehearsal: methods, paths, encodings, sizes, upgrades, headers, and all kinds of backend answers. */
const EVERYWHERE: readonly Question[] = [
  { method: 'GET', path: '/' },
  { method: 'HEAD', path: '/' },
  { method: 'GET', path: '/some/page?a=1&b=%20c' },
  { method: 'GET', path: '/a%2Fb/./%2e%2e/c//d;e=f' },
  { method: 'GET', path: '/caf%C3%A9%20x/%3Fy?q=%C3%A9&q' },
  { method: 'POST', path: '/form', body: 'a=1&b=2', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  { method: 'DELETE', path: '/thing' },
  { method: 'OPTIONS', path: '/thing' },
  { method: 'PROPFIND', path: '/thing' },
  { method: 'GET', path: '/', headers: { 'accept-encoding': 'gzip' } },
  {
    method: 'GET',
    path: '/',
    headers: { 'accept-encoding': 'gzip', range: 'bytes=0-9', cookie: 'a=b', te: 'trailers' },
  },
  {
    method: 'GET',
    path: '/',
    headers: { authorization: 'Bearer token', x_under: '1', 'proxy-authorization': 'x', referer: 'x' },
  },
  {
    method: 'GET',
    path: '/',
    headers: {
      ...{
        'x-forwarded-for': '192.0.2.7',
        'x-real-ip': '192.0.2.7',
        'x-forwarded-proto': 'wss',
        forwarded: 'for=192.0.2.7',
      },
      ...{
        'x-forwarded-host': 'other.test',
        'x-forwarded-port': '1',
        'x-forwarded-server': 'x',
        'x-forwarded-ssl': 'x',
      },
      ...{ 'x-client-ip': 'x', 'cf-connecting-ip': '192.0.2.8', 'x-scheme': 'x', 'x-original-uri': 'x', proxy: 'x' },
    },
  },
  { method: 'GET', path: '/', headers: { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-key': 'x' } },
  { method: 'GET', path: '/', headers: { upgrade: 'other', connection: 'Upgrade' } },
  { method: 'GET', path: '/', behaviour: 'host' },
  { method: 'GET', path: '/', behaviour: 'own' },
  { method: 'GET', path: '/', behaviour: 'relative' },
  { method: 'GET', path: '/', behaviour: 'headers' },
  { method: 'GET', path: '/', behaviour: 'missing' },
  { method: 'GET', path: '/', behaviour: 'fault' },
  ...[0.9, 1.5, 70, 5_000].map((size) => ({ method: 'PUT', path: '/', upload: Math.floor(size * MEGABYTE) })),
]

/** `paths`: the paths of the site's own locations. */
export const questionsFor = (host: string, paths: readonly string[]): readonly Question[] => [
  ...EVERYWHERE,
  { method: 'GET', path: '/', headers: { host: `${host.toUpperCase()}:8` } },
  ...paths.flatMap((path): Question[] => [
    { method: 'GET', path },
    { method: 'GET', path: `${path}x%2Fy//z?a`, behaviour: 'headers' },
    { method: 'PUT', path, upload: 2 * MEGABYTE },
    { method: 'GET', path, headers: { upgrade: 'websocket', connection: 'Upgrade' } },
  ]),
]

/** The password of the copies. */
export const CREDENTIALS = { name: 'rehearsal', password: 'rehearsal' }

const RIGHT = `Basic ${Buffer.from(`${CREDENTIALS.name}:${CREDENTIALS.password}`).toString('base64')}`

/** With restrictions, access is compared at every path. */
export const guardedQuestions = (paths: readonly string[]): readonly Question[] =>
  ['/', ...paths].flatMap((path) => [
    { method: 'GET', path },
    { method: 'GET', path, headers: { authorization: 'Basic d3Jvbmc6d3Jvbmc=' } },
    { method: 'GET', path, headers: { authorization: RIGHT } },
  ])
