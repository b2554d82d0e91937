import { join } from 'node:path'
import { isChallenge } from '../../../estate/adopt/judge/site-blocks.ts'
import { readSite, type SiteDirective } from '../../../estate/adopt/site-text.ts'
import { parseListens } from '../../../estate/reading/text/listen.ts'
import { UPGRADE_MAPS } from '../../config/render-base.ts'

export type Scheme = 'http' | 'https'
/** The present site, or the entry that would replace it. */
export type Side = 'site' | 'entry'
/** `open`: without restrictions, so that every question reaches the backend. `guarded`: with them. */
export type Variant = 'open' | 'guarded'

/** A host of a copy. */
export interface CopiedHost {
  readonly host: string
  readonly site: readonly SiteDirective[]
  /** The text of its entry, as an apply would write it. */
  readonly entry: string
  /** The port with TLS in the text of the entry. */
  readonly https: number
}

/** The replacements that a copy uses for real resources. */
export interface CopyPlaces {
  readonly folder: string
  /** `address:port` of the recorder. */
  readonly recorder: string
  readonly certificate: string
  readonly key: string
  /** A password file for every site that has one. */
  readonly passwords: string
}

/** The places, with the names of the upstreams of the copy. */
interface NamedPlaces extends CopyPlaces {
  readonly upstreams: ReadonlySet<string>
}

interface PlacedServer {
  readonly schemes: readonly Scheme[]
  readonly block: readonly SiteDirective[]
}

export const socketOf = (folder: string, index: number, side: Side, variant: Variant, scheme: Scheme): string =>
  join(folder, `${index}-${side}-${variant}-${scheme}`)

/** The schemes that both sides of a host serve. Other schemes cannot be compared. */
export function schemesOf(copied: CopiedHost): Scheme[] {
  const [site, entry] = [serversOf(copied, 'site'), serversOf(copied, 'entry')]
  const has = (servers: readonly PlacedServer[], scheme: Scheme) =>
    servers.some(({ schemes }) => schemes.includes(scheme))
  return (['http', 'https'] as const).filter((scheme) => has(site, scheme) && has(entry, scheme))
}

/** Whether the host or the http block restricts access. */
export const isGuarded = ({ site }: CopiedHost, http: readonly SiteDirective[]): boolean =>
  [...http, ...site].some(hasGuard)

const hasGuard = ({ name, block = [] }: SiteDirective): boolean => GUARDS.test(name) || block.some(hasGuard)

const GUARDS = /^(allow|deny|satisfy|auth_basic|auth_basic_user_file)$/

/**
 * The directives of a site that a copy has. All others are judged by their names alone. None of these opens a socket, a log or a
 * cache, and those that name a backend are changed to name the recorder.
 */
const COPIED =
  /^(location|if|limit_except|return|rewrite|set|break|proxy_(pass|set_header|redirect|http_version|hide_header|pass_header|ignore_headers|cookie_domain|cookie_path|cookie_flags|buffering|request_buffering|intercept_errors|method)|client_max_body_size|add_header|add_trailer|error_page|recursive_error_pages|root|alias|index|default_type|types|gzip(_\w+)?|gunzip|expires|etag|charset|override_charset|merge_slashes|underscores_in_headers|ignore_invalid_headers|absolute_redirect|server_name_in_redirect|port_in_redirect|chunked_transfer_encoding|max_ranges|server_tokens|internal)$/

/** Further directives of the http block that servers inherit or use. */
const COPIED_AROUND = /^(map|geo|split_clients|upstream|set_real_ip_from|real_ip_header|real_ip_recursive)$/

/** The configuration of a copy: both sides of every host, each on sockets of its own. */
export function copyText(http: readonly SiteDirective[], hosts: readonly CopiedHost[], places: CopyPlaces): string {
  const upstreams = new Set(http.filter(({ name }) => name === 'upstream').map(({ args }) => args[0] ?? ''))
  const servers = hosts.flatMap((copied, index) => serversText(copied, index, http, { ...places, upstreams }))
  const settings = http
    .filter(
      ({ name }) => (COPIED.test(name) || COPIED_AROUND.test(name)) && !/^(location|if|return|set|rewrite)$/.test(name),
    )
    .map((each) => (each.name === 'upstream' ? { ...each, block: [directive('server', places.recorder)] } : each))
  const used = usedOf(settings, servers.join(''))
  return `daemon off;
master_process off;
pid ${places.folder}/nginx.pid;
error_log ${places.folder}/error.log crit;
events { worker_connections 1024; }
http {
access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${places.folder}/${kind};`).join('\n')}
server_names_hash_bucket_size 512;
map_hash_bucket_size 512;
variables_hash_max_size 4096;
types_hash_max_size 4096;
map $scheme $rehearsal_port { default 80; https 443; }
${UPGRADE_MAPS}
${used.map(textOf).join('')}
${servers.join('\n')}
}
`
}

/** Drops unused variables: they may depend on a module that the copy does not load. */
function usedOf(settings: readonly SiteDirective[], servers: string): SiteDirective[] {
  const defines = ({ name, args }: SiteDirective) =>
    /^(map|geo|split_clients)$/.test(name) ? (args.at(-1) ?? '').replace(/^\$/, '') : undefined
  const kept = new Set(settings.filter((each) => defines(each) === undefined))
  for (let grew = true; grew; ) {
    const text = servers + [...kept].map(textOf).join('')
    const more = settings.filter((each) => !kept.has(each) && new RegExp(`\\$\\{?${defines(each)}\\b`).test(text))
    for (const each of more) kept.add(each)
    grew = more.length > 0
  }
  return settings.filter((each) => kept.has(each))
}

function serversText(copied: CopiedHost, index: number, http: readonly SiteDirective[], places: NamedPlaces): string[] {
  const variants: readonly Variant[] = isGuarded(copied, http) ? ['open', 'guarded'] : ['open']
  return (['site', 'entry'] as const).flatMap((side) =>
    variants.flatMap((variant) =>
      serversOf(copied, side).map(({ schemes, block }) => {
        const inside = block.flatMap((each) => copyOf(each, variant, places))
        // A server inherits the restrictions of the http block unless it sets its own.
        const guards =
          variant === 'guarded' ? http.filter(({ name }) => GUARDS.test(name) && !saysOtherwise(block, name)) : []
        const listens = schemes.map(
          (scheme) =>
            `listen unix:${socketOf(places.folder, index, side, variant, scheme)}${scheme === 'https' ? ' ssl' : ''};`,
        )
        return `server {
${listens.join('\n')}
server_name ${copied.host};
${schemes.includes('https') ? `ssl_certificate ${places.certificate};\nssl_certificate_key ${places.key};\n` : ''}set $rehearsal_backend ${places.recorder};
${[...guards.flatMap((each) => copyOf(each, variant, places)), ...inside].map(textOf).join('')}}
`
      }),
    ),
  )
}

const saysOtherwise = (block: readonly SiteDirective[], name: string): boolean =>
  block.some((each) => groupOf(each.name) === groupOf(name))

const groupOf = (name: string): string => (name === 'deny' ? 'allow' : name)

/** The servers of a side, with the schemes that they serve. */
function serversOf({ site, entry, https }: CopiedHost, side: Side): PlacedServer[] {
  const servers = side === 'site' ? site : readSite('entry', entry, () => []).filter(({ name }) => name === 'server')
  return servers.map(({ block = [] }) => {
    const isOn = block.some(({ name, args }) => name === 'ssl' && args[0] === 'on')
    const listens = block.filter(({ name }) => name === 'listen').map(({ args }) => args)
    const isSecure = parseListens(listens.length > 0 ? listens : [['80']], isOn).map(
      ({ isTls, port }) => isTls || (side === 'entry' && port === https),
    )
    return {
      schemes: [
        ...(isSecure.includes(false) ? ['http' as const] : []),
        ...(isSecure.includes(true) ? ['https' as const] : []),
      ],
      block,
    }
  })
}

/**
 * A directive in its form for the copy. Empty: the copy leaves it out. Challenges are left out, because the rehearsal does not
 * judge them.
 */
function copyOf(each: SiteDirective, variant: Variant, places: NamedPlaces): SiteDirective[] {
  const { name, args, block } = each
  if (GUARDS.test(name)) {
    if (variant === 'open') return []
    return [name === 'auth_basic_user_file' ? { ...each, args: [places.passwords] } : each]
  }
  if (!COPIED.test(name) || (name === 'location' && isChallenge(args))) return []
  const filled = name === 'proxy_pass' ? [passed(args[0] ?? '', places)] : args
  const moved = filled.map((arg) => arg.replaceAll(/\$(server_port\b|\{server_port\})/g, '$rehearsal_port'))
  return [{ ...each, args: moved, block: block?.flatMap((inner) => copyOf(inner, variant, places)) }]
}

/** The same URL with the recorder as its backend. An upstream keeps its name, because the backend may receive it as Host. */
function passed(url: string, { recorder, upstreams }: NamedPlaces): string {
  const [, authority = '', rest = ''] = /^[^/]*:\/\/([^/]*)(.*)$/.exec(url) ?? []
  if (url.includes('$')) return `http://$rehearsal_backend${rest}`
  return `http://${upstreams.has(authority) ? authority : recorder}${rest}`
}

const directive = (name: string, ...args: string[]): SiteDirective => ({
  ...{ name, args, path: '', line: 0, block: undefined, start: 0, end: 0 },
})

const textOf = ({ name, args, block }: SiteDirective): string => {
  const words = [quoted(name), ...args.map(quoted)].join(' ')
  return block ? `${words} {\n${block.map(textOf).join('')}}\n` : `${words};\n`
}

const quoted = (word: string): string =>
  /^[a-z_]+$/.test(word) ? word : `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
