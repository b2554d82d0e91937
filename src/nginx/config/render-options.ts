import { createHash } from 'node:crypto'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { NamedFiles } from '../../estate/settings.ts'
import { HEADER_NAMES, HEADER_WORDS, type ResponseHeaders } from '../../model/options/grammar.ts'
import { areCanonical } from '../../model/options/read-options.ts'
import type { RenderedEntry } from './render-model.ts'

type Options = Pick<RenderedEntry, 'host' | 'target' | 'furtherTargets' | 'options'>

const COMMENT = '# Options: '

/** Records the input of the block, so that it can be read back. The values have no character that could end a comment. */
export const optionsComment = ({ target, furtherTargets, options }: Options): string =>
  options === undefined && furtherTargets === undefined
    ? ''
    : `\n${COMMENT}${JSON.stringify({ target, furtherTargets, options })}`

/** The input in the comment of a block. It is valid only if the renderer produces the same block from it. */
export function optionsIn(text: string): Omit<Options, 'host'> | undefined {
  const [, json] = new RegExp(`^${COMMENT}(\\{.{1,16384}\\})$`, 'm').exec(headerOf(text)) ?? []
  if (json === undefined) return undefined
  try {
    const { target, furtherTargets, options, ...more } = JSON.parse(json) as Record<string, unknown>
    const isListed = furtherTargets === undefined || isTexts(furtherTargets)
    if (typeof target !== 'string' || !isListed || Object.keys(more).length > 0) return undefined
    if (options !== undefined && !areCanonical(options)) return undefined
    return { target, furtherTargets, options }
  } catch {
    return undefined
  }
}

/** The comments before the first server. */
const headerOf = (text: string): string => /^(?:#[^\n]*\n)*/.exec(text)?.[0] ?? ''

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')

/** How many failures make the edge use the next backend, and for how long. */
const FAILOVER = 'max_fails=2 fail_timeout=10s'

const upstreamName = (host: string): string =>
  `drawbridge_${createHash('sha256').update(host).digest('hex').slice(0, 16)}`

/** The backends of a host that has several. The first one gets all requests while it works. */
export function upstreamOf({ host, target, furtherTargets }: Options): string {
  if (!furtherTargets) return ''
  const place = (one: string) => one.replace(/^https?:\/\//, '')
  const further = furtherTargets.map((one) => `  server ${place(one)} ${FAILOVER} backup;\n`)
  return `upstream ${upstreamName(host)} {
  server ${place(target)} ${FAILOVER};
${further.join('')}}
`
}

export const proxiedTo = ({ host, target, furtherTargets }: Options): string =>
  furtherTargets ? `${target.slice(0, target.indexOf('//') + 2)}${upstreamName(host)}` : target

/**
 * The directives of a proxying server. Headers must be added here and not in the location: a location with an `add_header` of its
 * own would not send the header that proves which block answered.
 */
export function serverOptions({ host, options }: Options, scheme: 'http' | 'https', named: NamedFiles): string {
  if (!options) return ''
  const { headers = {}, maintenance, snippets = [] } = options
  const lines = [
    ...headersOf(headers, scheme).map(([name, value]) => `add_header ${name} "${value}" always;`),
    ...(maintenance
      ? [`add_header Retry-After ${maintenance.retryAfter} always;`, 'add_header Cache-Control no-store always;']
      : []),
    ...snippets.map((id) => `include ${fileOf(named, 'snippets', id, host)};`),
  ]
  return lines.map((line) => `  ${line}\n`).join('')
}

/** Without TLS, browsers ignore HSTS, and the standard forbids sending it. */
function headersOf(headers: ResponseHeaders, scheme: 'http' | 'https'): [name: string, value: string][] {
  const { hsts } = headers
  const parts = hsts && [
    `max-age=${hsts.maxAge}`,
    ...(hsts.includeSubDomains ? ['includeSubDomains'] : []),
    ...(hsts.preload ? ['preload'] : []),
  ]
  const words = HEADER_NAMES.flatMap((name): [string, string][] => {
    const word = headers[name]
    return word === undefined ? [] : [[HEADER_WORDS[name].header, word]]
  })
  return [...(parts && scheme === 'https' ? [[HSTS, parts.join('; ')] as [string, string]] : []), ...words]
}

const HSTS = 'Strict-Transport-Security'

/** The directives of the location that proxies, before its `proxy_pass`. */
export function locationOptions(site: Options, named: NamedFiles): string {
  const { host, target, furtherTargets, options = {} } = site
  const { allow, basicAuth, backendTls, buffering, headers = {}, maintenance } = options
  const hidden = [...(headers.hsts ? [HSTS] : []), ...HEADER_NAMES.flatMap((name) => headerIn(headers, name))]
  const lines = [
    ...(maintenance ? ['default_type "text/html; charset=utf-8";', `return 503 "${MAINTENANCE_PAGE}";`] : []),
    ...(allow ? [...allow.map((network) => `allow ${network};`), 'deny all;'] : []),
    ...(basicAuth === undefined
      ? []
      : [
          'auth_basic "Restricted";',
          `auth_basic_user_file ${fileOf(named, 'passwords', basicAuth, host)};`,
          // The password is for the edge. The backend must not receive it.
          'proxy_set_header Authorization "";',
        ]),
    ...(backendTls
      ? [
          `proxy_ssl_trusted_certificate ${fileOf(named, 'authorities', backendTls.authority, host)};`,
          'proxy_ssl_verify on;',
          'proxy_ssl_verify_depth 5;',
          'proxy_ssl_protocols TLSv1.2 TLSv1.3;',
          'proxy_ssl_server_name on;',
          `proxy_ssl_name ${backendTls.name ?? host};`,
        ]
      : []),
    ...(buffering === false ? ['proxy_buffering off;', 'proxy_request_buffering off;'] : []),
    ...(furtherTargets
      ? [
          'proxy_next_upstream error timeout http_502 http_503 http_504;',
          `proxy_next_upstream_tries ${furtherTargets.length + 1};`,
          // nginx's default if proxy_pass names the backend directly.
          ...[target, ...furtherTargets].map((one) => `proxy_redirect ${one}/ /;`),
        ]
      : []),
    ...hidden.map((name) => `proxy_hide_header ${name};`),
  ]
  return lines.map((line) => `    ${line}\n`).join('')
}

const headerIn = (headers: ResponseHeaders, name: (typeof HEADER_NAMES)[number]): string[] =>
  headers[name] === undefined ? [] : [HEADER_WORDS[name].header]

/** Must have no quotes and no dollar signs: it is part of a directive. */
const MAINTENANCE_PAGE =
  '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=width=device-width>' +
  '<title>Maintenance</title><body style=font-family:sans-serif;margin:15vh+auto;max-width:30em;padding:1em>' +
  '<h1>Under maintenance</h1><p>This service is being worked on and will be back soon. Please try again later.</p></body></html>\\n'

/** Throws for an id that the edge's administrator has not defined. */
function fileOf(named: NamedFiles, kind: keyof NamedFiles, id: string, host: string): string {
  const file = Object.hasOwn(named[kind], id) ? named[kind][id] : undefined
  if (file !== undefined && /^\/[A-Za-z0-9._/-]+$/.test(file)) return file
  throw new EdgeFault(
    'change_invalid',
    `The configuration of the edge has no ${WORDS[kind]} with the id ${id}, which ${host} names in its options.`,
  )
}

const WORDS: Readonly<Record<keyof NamedFiles, string>> = {
  passwords: 'password file',
  authorities: 'authority',
  snippets: 'snippet',
}
