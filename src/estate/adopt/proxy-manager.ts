import { parseAddress } from '../../model/address.ts'
import { parseName } from '../../model/dns-name.ts'
import type { Adoption, SiteFinding } from '../../model/options/adoption.ts'

const NOT_COMPARED =
  'Its answers are not compared: a database has no configuration of nginx that could be rehearsed. Sizes of bodies, timeouts and headers ' +
  'of requests have the values of Drawbridge. Compare the host yourself before you switch over.'
const WEBSOCKET = 'Upgrades to WebSocket are passed on.'

type Row = Readonly<Record<string, unknown>>

/** The rows of Nginx Proxy Manager's database that describe hosts. */
interface Tables {
  readonly proxy_host: readonly Row[]
  readonly redirection_host: readonly Row[]
  readonly dead_host: readonly Row[]
}

/** Judges every name in a database of Nginx Proxy Manager. Every name becomes an exposure of its own. */
export function judgeProxyManager(
  tables: Tables,
  file: string,
  serverAt: (address: string) => string | undefined,
): Adoption[] {
  const proxied = tables.proxy_host
    .filter(isLive)
    .flatMap((row) => namesIn(row).map((host) => judge(host, row, file, serverAt)))
  const others = [
    ...tables.redirection_host.filter(isLive).map((row) => ({ row, sentence: 'It redirects to another host.' })),
    ...tables.dead_host.filter(isLive).map((row) => ({ row, sentence: 'It answers with an error page only.' })),
  ].flatMap(({ row, sentence }) =>
    namesIn(row).map((host) => ({ ...bare(host, row, file), refused: [finding('host', row, file, sentence)] })),
  )
  return [...proxied, ...others].toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

function judge(host: string, row: Row, file: string, serverAt: (address: string) => string | undefined): Adoption {
  const lost: SiteFinding[] = []
  const refused: SiteFinding[] = []
  const lose = (field: string, sentence: string) => void lost.push(finding(field, row, file, sentence))
  const refuse = (field: string, sentence: string) => void refused.push(finding(field, row, file, sentence))
  const address = row.forward_host === 'localhost' ? '127.0.0.1' : parseAddress(String(row.forward_host ?? ''))
  const server = address === undefined ? undefined : serverAt(address)
  const port = Number(row.forward_port)
  if (parseName(host) !== host) refuse('domain_names', 'The name is a pattern and not a host.')
  if (server === undefined) refuse('forward_host', 'Its backend is not on a server that hosts may be exposed on.')
  if (row.forward_scheme === 'https') refuse('forward_scheme', 'Its backend is asked by HTTPS.')
  if (isSet(row.access_list_id)) refuse('access_list_id', 'An access list restricts who is answered.')
  if (hasLocations(row)) refuse('locations', 'Some of its paths have an answer of their own.')
  if (typeof row.advanced_config === 'string' && row.advanced_config.trim() !== '')
    refuse('advanced_config', 'It has nginx directives of its own, which are not read.')
  if (isSet(row.caching_enabled)) lose('caching_enabled', 'Answers are not cached any more.')
  if (isSet(row.block_exploits)) lose('block_exploits', 'Requests are not filtered by pattern any more.')
  if (isSet(row.hsts_enabled)) lose('hsts_enabled', 'Headers of answers are passed on as the backend sends them.')
  const changed = [finding('proxy_host', row, file, NOT_COMPARED)]
  if (!isSet(row.allow_websocket_upgrade)) changed.push(finding('allow_websocket_upgrade', row, file, WEBSOCKET))
  const tls = isSet(row.certificate_id)
  if (tls && !isSet(row.ssl_forced)) lose('ssl_forced', 'HTTP is redirected to HTTPS.')
  const carried =
    server === undefined ? [] : [finding('forward_host', row, file, `Its backend is server ${server}, port ${port}.`)]
  return {
    ...bare(host, row, file),
    ...(server !== undefined && { backend: { server, port } }),
    tls,
    carried,
    changed,
    lost,
    refused,
  }
}

const bare = (host: string, _row: Row, file: string): Adoption => ({
  host,
  tls: false,
  files: [file],
  carried: [],
  changed: [],
  lost: [],
  refused: [],
})

const finding = (directive: string, row: Row, file: string, sentence: string): SiteFinding => ({
  directive,
  file,
  // A database has rows and no lines.
  line: Number(row.id ?? 0),
  sentence,
})

const isSet = (value: unknown): boolean => Number(value ?? 0) > 0

const isLive = (row: Row): boolean => !isSet(row.is_deleted) && Number(row.enabled ?? 1) === 1

const namesIn = ({ domain_names }: Row): string[] =>
  listIn(domain_names)
    .filter((name) => typeof name === 'string')
    .map((name) => name.toLowerCase())

const hasLocations = ({ locations }: Row): boolean => listIn(locations).length > 0

function listIn(value: unknown): unknown[] {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}
