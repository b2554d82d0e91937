/** Where a written site stands: its addresses are filled in by the test. */
export interface SitePlaces {
  /** `listen` with a port for plain HTTP, and with one for TLS. */
  readonly http: string
  readonly https: string
  readonly backend: string
  /** The lines with certificate and key. */
  readonly pair: string
}

/** A site in a file of its own. `says`: what import has to say: it is refused, or the words that its report must have. */
export interface SingleSite {
  readonly name: string
  readonly text: (at: SitePlaces, host: string) => string
  readonly says: 'no' | readonly RegExp[]
}

const USUAL = `proxy_set_header Host $host;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;`

/** One server block for plain HTTP. */
const plain =
  (inLocation: string, inServer = '', uri = '') =>
  ({ http, backend }: SitePlaces, host: string): string =>
    `server {
  listen ${http};
  server_name ${host};
  ${inServer}
  location / {
    proxy_pass http://${backend}${uri};
    ${inLocation}
  }
}
`

const secure = (
  { https, pair, backend }: SitePlaces,
  host: string,
  inLocation = USUAL,
  inServer = '',
): string => `server {
  listen ${https} ssl;
  server_name ${host};
  ${pair}
  ${inServer}
  location / {
    proxy_pass http://${backend};
    ${inLocation}
  }
}
`

/** A block for plain HTTP with this content, beside one for TLS. */
const redirecting =
  (inside: (at: SitePlaces, host: string) => string) =>
  (at: SitePlaces, host: string): string =>
    `server {
  listen ${at.http};
  server_name ${host};
  ${inside(at, host)}
}
${secure(at, host)}`

const portOf = ({ https }: SitePlaces): string => https.replace(/^.*:/, '')

const APPENDED = /address of the visitor alone/
const VERSION = /asked by HTTP\/1\.1/
const ADDED = /from Drawbridge, and not from the visitor/
const STATUS_308 = /status 308/
const HTTP2 = /HTTP\/2/

/** Ways in which guides write a site, and the traps of a report about them. */
export const FORTY_SITES: readonly SingleSite[] = [
  // What guides write.
  { name: 'nothing but a proxy', text: plain(''), says: [/not its own address as Host/, ADDED, VERSION] },
  { name: 'usual headers', text: plain(USUAL), says: [APPENDED, VERSION] },
  { name: 'usual headers and a slash', text: plain(USUAL, '', '/'), says: [/paths as visitors send them/, APPENDED] },
  {
    name: 'websocket',
    text: plain(
      `proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; ${USUAL}`,
    ),
    says: [/WebSockets only/],
  },
  { name: 'http_host', text: plain('proxy_set_header Host $http_host;'), says: [/lower case and without a port/] },
  {
    name: 'a redirect by return',
    text: redirecting((at) => `return 301 https://$host:${portOf(at)}$request_uri;`),
    says: [STATUS_308, HTTP2, /body over the limit/],
  },
  {
    name: 'a redirect by certbot',
    text: redirecting(
      (at, host) => `if ($host = ${host}) { return 301 https://$host:${portOf(at)}$request_uri; } return 404;`,
    ),
    says: [STATUS_308],
  },
  {
    name: 'a redirect by rewrite',
    text: redirecting((at) => `rewrite ^(.*)$ https://$host:${portOf(at)}$1 permanent;`),
    says: [STATUS_308, /path as the visitor sends it/],
  },
  {
    name: 'a redirect in a location',
    text: redirecting((at) => `location / { return 308 https://$host:${portOf(at)}$request_uri; }`),
    says: [HTTP2],
  },
  {
    name: 'one block for both',
    text: (at, host) =>
      secure(
        at,
        host,
        USUAL,
        `listen ${at.http}; if ($scheme = http) { return 301 https://$host:${portOf(at)}$request_uri; }`,
      ),
    says: [STATUS_308],
  },
  { name: 'TLS alone', text: (at, host) => secure(at, host), says: [/HTTP is answered, too/] },
  {
    name: 'HSTS',
    text: (at, host) => secure(at, host, USUAL, 'add_header Strict-Transport-Security "max-age=63072000" always;'),
    says: [/in place of one of the backend/],
  },
  {
    name: 'a header without always',
    text: plain(USUAL, 'add_header X-Frame-Options SAMEORIGIN;'),
    says: [/with errors, too/],
  },
  {
    name: 'a header of its own',
    text: plain(USUAL, 'add_header X-Own 1 always;'),
    says: [/passed on as the backend sends them/],
  },
  {
    name: 'compression',
    text: plain(USUAL, 'gzip on; gzip_proxied any; gzip_min_length 100;'),
    says: [/compressed as the http block says/],
  },
  { name: 'a body of 50 megabytes', text: plain(USUAL, 'client_max_body_size 50m;'), says: [APPENDED] },
  { name: 'a body without a limit', text: plain(`client_max_body_size 0; ${USUAL}`), says: [APPENDED] },
  { name: 'long timeouts', text: plain(`proxy_read_timeout 1d; proxy_send_timeout 5m; ${USUAL}`), says: [APPENDED] },
  { name: 'no buffers', text: plain(`proxy_buffering off; proxy_request_buffering off; ${USUAL}`), says: [APPENDED] },
  {
    name: 'a proxy manager',
    text: ({ http, backend }, host) =>
      `server { set $forward_scheme http; set $server "${backend.split(':')[0]}"; set $port ${backend.split(':')[1]}; listen ${http}; server_name ${host}; location / { proxy_pass $forward_scheme://$server:$port; ${USUAL} } }\n`,
    says: [/Redirects of the backend to its own address/],
  },
  {
    name: 'several paths',
    text: plain(USUAL, 'location /api/ { proxy_pass http://@BACKEND@; proxy_set_header Host $host; }'),
    says: [ADDED],
  },
  {
    name: 'a path with a larger body',
    text: plain(USUAL, `location /up { proxy_pass http://@BACKEND@; client_max_body_size 100m; ${USUAL} }`),
    says: [/that of the whole host/],
  },
  {
    name: 'hidden headers',
    text: plain(`proxy_hide_header X-Powered-By; ${USUAL}`),
    says: [/passed on as the backend sends them/],
  },
  // c: forwarding headers by their values.
  {
    name: 'a fixed protocol',
    text: plain('proxy_set_header Host $host; proxy_set_header X-Forwarded-Proto https;'),
    says: [/protocol of the connection/],
  },
  {
    name: 'an address of a network in front',
    text: plain('proxy_set_header Host $host; proxy_set_header X-Real-IP $http_cf_connecting_ip;'),
    says: [/address of the connection/],
  },
  {
    name: 'no encodings for the backend',
    text: plain('proxy_set_header Host $host; proxy_set_header Accept-Encoding "";'),
    says: [/does not get this header/],
  },
  {
    name: 'a header with the port',
    text: plain(`${USUAL} proxy_set_header X-Forwarded-Port $server_port;`),
    says: [/does not get this header/],
  },
  {
    name: 'a connection that is kept',
    text: plain('proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;'),
    says: [ADDED],
  },
  // g: what was refused and need not be.
  {
    name: 'redirects as they are',
    text: plain(`proxy_redirect off; ${USUAL}`),
    says: [/Redirects of the backend to its own address/],
  },
  {
    name: 'a trusted certificate',
    text: (at, host) =>
      secure(at, host, USUAL, `ssl_stapling off; ssl_trusted_certificate ${at.pair.split(/[ ;]/)[1]};`),
    says: [HTTP2],
  },
  {
    name: 'allow all in a location',
    text: plain(USUAL, `location /open/ { allow all; proxy_pass http://@BACKEND@; ${USUAL} }`),
    says: [APPENDED],
  },
  // d: redirects that are none of the whole host, and other traps.
  {
    name: 'a redirect of one path',
    text: redirecting((at) => `rewrite ^/old$ https://$host:${portOf(at)}/old permanent;`),
    says: 'no',
  },
  {
    name: 'a redirect to another path',
    text: redirecting((at) => `return 301 https://$host:${portOf(at)}$uri/welcome;`),
    says: 'no',
  },
  {
    name: 'a redirect without the query',
    text: redirecting((at) => `return 301 https://$host:${portOf(at)}$uri;`),
    says: 'no',
  },
  {
    name: 'a redirect of those with TLS',
    text: (at, host) =>
      secure(
        at,
        host,
        USUAL,
        `listen ${at.http}; if ($scheme = https) { return 301 https://$host:${portOf(at)}$request_uri; }`,
      ),
    says: 'no',
  },
  { name: 'another Host', text: plain('proxy_set_header Host other.test;'), says: 'no' },
  {
    name: 'a path by a variable',
    text: ({ http, backend }, host) =>
      `server { listen ${http}; server_name ${host}; set $b ${backend}; location / { proxy_pass http://$b/; ${USUAL} } }\n`,
    says: 'no',
  },
  { name: 'a list of those who are kept out', text: plain(`deny 192.0.2.0/24; ${USUAL}`), says: 'no' },
  { name: 'a path that is closed', text: plain(USUAL, 'location /admin { deny all; }'), says: 'no' },
  { name: 'files beside the backend', text: plain(USUAL, 'location /static/ { root /srv; }'), says: 'no' },
]
