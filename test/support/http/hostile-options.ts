/** Texts that mean something to nginx, to a shell or to a terminal. */
const HOSTILE_TEXTS = [
  '\n',
  '\r',
  '\0',
  ';',
  '{',
  '}',
  '$',
  '"',
  "'",
  '\\',
  '#',
  ' ',
  'ü',
  '\u2028',
  '\ud800',
  '; } server { listen 80 default_server; } #',
  '\n  alias /etc/;',
  '$http_x_evil',
  '../../etc/passwd',
]

const HOSTILE_NUMBERS: readonly unknown[] = [-1, 0.5, 1e9, Number.MAX_SAFE_INTEGER, 1e308, '5', '5s;', null, [], true]

/** Options that no gate may let through, each with the field that is wrong. */
export function hostileOptions(): readonly (readonly [field: string, options: unknown])[] {
  const texts = (field: string, good: string, options: (text: string) => unknown) =>
    HOSTILE_TEXTS.flatMap((text) =>
      [`${good}${text}`, `${text}${good}`].map((value) => [field, options(value)] as const),
    )
  const numbers = (field: string, options: (value: unknown) => unknown) =>
    HOSTILE_NUMBERS.map((value) => [field, options(value)] as const)
  return [
    ...texts('options.maxBody', '50m', (maxBody) => ({ maxBody })),
    ...texts('options.allow.0', '10.0.0.0/8', (network) => ({ allow: [network] })),
    ...texts('options.basicAuth', 'office', (basicAuth) => ({ basicAuth })),
    ...texts('options.backendTls.authority', 'inside', (authority) => ({ backendTls: { authority } })),
    ...texts('options.backendTls.name', 'a.test', (name) => ({ backendTls: { authority: 'inside', name } })),
    ...texts('options.backends.0.server', '25', (server) => ({ backends: [{ server, port: 3000 }] })),
    ...texts('options.snippets.0', 'teapot', (snippet) => ({ snippets: [snippet] })),
    ...texts('options.headers.frameOptions', 'DENY', (frameOptions) => ({ headers: { frameOptions } })),
    ...texts('options.headers.referrerPolicy', 'origin', (referrerPolicy) => ({ headers: { referrerPolicy } })),
    ...numbers('options.timeouts.read', (read) => ({ timeouts: { read } })),
    ...numbers('options.timeouts.connect', (connect) => ({ timeouts: { connect } })),
    ...numbers('options.headers.hsts.maxAge', (maxAge) => ({ headers: { hsts: { maxAge } } })),
    ...numbers('options.maintenance.retryAfter', (retryAfter) => ({ maintenance: { retryAfter } })),
    ['options.websocket', { websocket: 'off; deny all' }],
    ['options.raw', { raw: 'return 200;' }],
    ['options.headers.server', { headers: { server: 'x' } }],
    ['options.allow', { allow: Array.from({ length: 65 }, (_, at) => `10.0.0.${at}/32`) }],
    ...['allow', 'backends', 'snippets'].map((list) => [`options.${list}`, { [list]: [] }] as const),
    ['options', 'maxBody 50m;'],
    ['options', [{ maxBody: '50m' }]],
  ]
}
