import type { Challenge } from '../../edge/record/challenge.ts'
import { ANSWER, QUESTION } from '../../edge/record/proof.ts'
import { type NamedFiles, NONE_NAMED } from '../../estate/settings.ts'
import { formatEndpoint } from '../../model/address.ts'
import { maxBody, proxySettings, variableOf } from './render-base.ts'
import { CHALLENGE_PATH, type RenderedEntry } from './render-model.ts'
import { locationOptions, optionsComment, proxiedTo, serverOptions, upstreamOf } from './render-options.ts'
import { type Listening, socketsOf } from './sockets.ts'
import { CHOSEN_BY_NAME } from './written-block.ts'

/** The input for the server blocks of a host. */
type Blocks = Omit<RenderedEntry, 'plan'>

/** The server blocks of a host, independent of other hosts. */
export function renderBlocks(site: Blocks, listening: Listening): string {
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

/** The server blocks of a host, with a header that describes them. */
export function renderBlock(record: RenderedEntry, listening: Listening): string {
  const { host, plan, tls } = record
  const source = tls ? CHOSEN_BY_NAME : ''
  return `# ${host}: made by Drawbridge for ${plan}. Do not edit: what was changed by hand is not overwritten, but reported.${source}${optionsComment(record)}

${renderBlocks(record, listening)}`
}

const renderServer = (site: Blocks, listening: Listening, scheme: 'http' | 'https', answer: string): string => {
  const { host, challenge } = site
  const proofs = scheme === 'http' && challenge ? challengeLocation(challenge) : ''
  return `server {
${listenLines(listening, scheme)}
  server_name ${host};
${identity(site)}${proofs}
${answer}}
`
}

/**
 * Without options, so that the text of an entry does not depend on other servers at the address: a site may be added or adopted at
 * any time. `writtenBlock` adds the options for TLS.
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

const challengeLocation = ({ token, answer }: Challenge): string => `
  location = ${CHALLENGE_PATH}${token} {
    default_type text/plain;
    return 200 "${answer}";
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
