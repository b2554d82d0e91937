import { formatEndpoint, parseEndpoint } from '../../model/address.ts'
import { isPlanId } from '../../model/exposure.ts'
import type { EdgeFile, Site } from '../contract.ts'
import { type EntryLayout, type NamedFiles, NONE_NAMED } from '../settings.ts'
import { blockFile, isHost, linesFile } from './layout.ts'
import { ANSWER, QUESTION } from './proof.ts'
import { maxBody, proxySettings, variableOf } from './render-base.ts'
import { renderCertificate } from './render-certificate.ts'
import { CHALLENGE_PATH, type EntryRecord, hasOptions, recordOf, renderLines } from './render-lines.ts'
import {
  assertOptions,
  locationOptions,
  optionsComment,
  proxiedTo,
  serverOptions,
  upstreamOf,
} from './render-options.ts'
import { type Listening, socketsOf } from './sockets.ts'
import { CHOSEN_BY_NAME } from './written-lines.ts'

const TOKEN = /^[A-Za-z0-9_-]{1,256}$/
const KEY_AUTHORIZATION = /^[A-Za-z0-9_-]{1,256}\.[A-Za-z0-9_-]{1,256}$/

/** The files of one site. Throws when a value does not match its pattern: values are never escaped into the configuration. */
export function renderSite(site: Site, listening: Listening, layout: EntryLayout): EdgeFile[] {
  const record = recordOf(site)
  assertRecord(record)
  const { host } = site
  return [
    ...(site.certificate ? renderCertificate(host, site.certificate) : []),
    layout === 'lines' && !hasOptions(record)
      ? { path: linesFile(host), content: renderLines(record), secret: false }
      : { path: blockFile(host), content: renderBlock(record, listening), secret: false },
  ]
}

/** What the server blocks of a host are made of. */
type Blocks = Omit<EntryRecord, 'planId'>

/** The server blocks of a host, as if it stood alone. */
function renderBlocks(site: Blocks, listening: Listening): string {
  const { host, tls } = site
  const { http, https } = listening.ports
  const { named = NONE_NAMED } = listening
  const servers = tls
    ? [
        renderServer(site, listening, 'http', redirect(host, https)),
        renderServer(site, listening, 'https', proxy(site, 'https', https === 443 ? host : `${host}:${https}`, named)),
      ]
    : [renderServer(site, listening, 'http', proxy(site, 'http', http === 80 ? host : `${host}:${http}`, named))]
  return upstreamOf(site) + servers.join('\n')
}

export function renderBlock(record: EntryRecord, listening: Listening): string {
  const { host, planId, tls } = record
  const source = tls ? CHOSEN_BY_NAME : ''
  return `# ${host}: made by Drawbridge for ${planId}. Do not edit: what was changed by hand is not overwritten, but reported.${source}${optionsComment(record)}

${renderBlocks(record, listening)}`
}

/** What a host's lines stand for, as server blocks of its own. Null if nginx does not serve the host by them. */
export function blocksFromLines(host: string, lines: string, listening: Listening): string | null {
  const [, word] = /^(https?) server_name /m.exec(lines) ?? []
  // Somebody may have changed the spaces, or written a comment behind it.
  const [, target] = /^backend +\S+ +([^\s;{}"']+) *;[ \t]*(?:#.*)?$/m.exec(lines) ?? []
  if (word === undefined || target === undefined) return null
  const [, question, answer] = /^answer "\S+ ([0-9a-f]+)" ([0-9a-f]+);$/m.exec(lines) ?? []
  const identity = question === undefined || answer === undefined ? undefined : { question, answer }
  return renderBlocks({ host, target, tls: word === 'https', identity }, listening)
}

const renderServer = (site: Blocks, listening: Listening, scheme: 'http' | 'https', answer: string): string => {
  const { host, challenges = {} } = site
  const proofs = scheme === 'http' ? Object.entries(challenges).map(challenge).join('') : ''
  return `server {
${listenLines(listening, scheme)}
  server_name ${host};
${identity(site)}${proofs}
${answer}}
`
}

/**
 * Without options, so that the text of an entry is the same whoever else listens there: a site of somebody may come or be adopted at any
 * time. `writtenBlock` adds what TLS needs.
 */
const listenLines = (listening: Listening, scheme: 'http' | 'https'): string =>
  socketsOf(listening)
    [scheme].map(({ address }) => `  listen ${formatEndpoint({ address, port: listening.ports[scheme] })};`)
    .join('\n')

/** See proof.ts. nginx sends no header with an empty value, so a request without the right QUESTION gets no ANSWER. */
function identity({ identity: proof }: Blocks): string {
  if (!proof) return ''
  const { question, answer } = proof
  return `
  set $drawbridge_entry "";
  if (${variableOf(QUESTION)} = ${question}) { set $drawbridge_entry ${answer}; }
  add_header ${ANSWER} $drawbridge_entry always;
`
}

const challenge = ([token, keyAuthorization]: [string, string]): string => `
  location = ${CHALLENGE_PATH}${token} {
    default_type text/plain;
    return 200 "${keyAuthorization}";
  }
`

const redirect = (host: string, port: number): string => `  location / {
    return 308 https://${host}${port === 443 ? '' : `:${port}`}$request_uri;
  }
`

/** The backend must not see QUESTION, and must not be able to send ANSWER. */
const PROOF_KEPT = `    proxy_set_header ${QUESTION} "";
    proxy_hide_header ${ANSWER};
`

const proxy = (
  site: Blocks,
  scheme: 'http' | 'https',
  authority: string,
  named: NamedFiles,
): string => `  ${maxBody(site.options?.maxBody)}
${serverOptions(site, scheme, named)}
  location / {
${locationOptions(site, named)}    proxy_pass ${proxiedTo(site)};
${proxySettings(site.host, authority, scheme, '    ', site.options)}
${site.identity ? PROOF_KEPT : ''}  }
`

/** Throws when a value does not match its grammar. */
export function assertRecord(record: EntryRecord): void {
  const { host, planId, target, challenges = {}, furtherTargets, options } = record
  if (!isHost(host)) throw new Error(`${JSON.stringify(host)} is not a valid host name.`)
  if (!isPlanId(planId)) throw new Error(`${JSON.stringify(planId)} is not a plan id.`)
  const scheme = options?.backendTls ? 'https' : 'http'
  for (const one of [target, ...(furtherTargets ?? [])])
    if (!isTarget(one, scheme))
      throw new Error(`${JSON.stringify(one)} is not ${scheme}:// with an IP address and a port.`)
  if (hasOptions(record)) assertOptions(record)
  for (const [token, keyAuthorization] of Object.entries(challenges)) {
    if (!TOKEN.test(token) || !KEY_AUTHORIZATION.test(keyAuthorization))
      throw new Error('The token or the key authorization of an ACME challenge has characters that are not allowed.')
  }
}

/** The scheme, an IP address in canonical form, a port, and nothing else. */
function isTarget(target: string, scheme: 'http' | 'https'): boolean {
  const [, endpoint = ''] = /^https?:\/\/([0-9a-f.:[\]]+:\d{1,5})$/.exec(target) ?? []
  const parsed = parseEndpoint(endpoint, 0)
  return parsed !== undefined && target === `${scheme}://${formatEndpoint(parsed)}`
}
