import { formatEndpoint, parseEndpoint } from '../../model/address.ts'
import { isPlanId } from '../../model/exposure.ts'
import type { EdgeFile, Site } from '../contract.ts'
import { hostFile, isHost } from './layout.ts'
import { ANSWER, entryProof, QUESTION } from './proof.ts'
import { type Listening, listenLines, UNKNOWN_HOST } from './render-base.ts'
import { renderCertificate } from './render-certificate.ts'

const TOKEN = /^[A-Za-z0-9_-]{1,256}$/
const KEY_AUTHORIZATION = /^[A-Za-z0-9_-]{1,256}\.[A-Za-z0-9_-]{1,256}$/

/** The files of one site. Throws when a value does not match its pattern: values are never escaped into the configuration. */
export function renderSite(site: Site, listening: Listening): EdgeFile[] {
  assertValid(site)
  return [
    ...(site.certificate ? renderCertificate(site.host, site.certificate) : []),
    { path: hostFile(site.host), content: renderHost(site, listening), secret: false },
  ]
}

function renderHost(site: Site, listening: Listening): string {
  const { host, planId, certificate } = site
  const { http, https } = listening.ports
  const servers = certificate
    ? [
        renderServer(site, listening, http, redirect(host, https)),
        renderServer(site, listening, https, proxy(site, 'https', https === 443 ? host : `${host}:${https}`)),
      ]
    : [renderServer(site, listening, http, proxy(site, 'http', http === 80 ? host : `${host}:${http}`))]
  const source = certificate ? '\n# Its certificate is chosen by name in drawbridge.conf.' : ''
  return `# ${host}: made by Drawbridge for ${planId}. Do not edit: what was changed by hand is not overwritten, but reported.${source}

${servers.join('\n')}`
}

const renderServer = (site: Site, listening: Listening, port: number, answer: string): string => {
  const { host, challenges = {} } = site
  const proofs = port === listening.ports.http ? Object.entries(challenges).map(challenge).join('') : ''
  return `server {
${listenLines(listening, port)}
  server_name ${host};
${identity(site)}${proofs}
${answer}}
`
}

/** See proof.ts. nginx sends no header with an empty value, so a request without the right QUESTION gets no ANSWER. */
function identity({ host, proof }: Site): string {
  if (proof === undefined) return ''
  const { question, answer } = entryProof(proof, host)
  return `
  set $drawbridge_entry "";
  if (${variableOf(QUESTION)} = ${question}) { set $drawbridge_entry ${answer}; }
  add_header ${ANSWER} $drawbridge_entry always;
`
}

const variableOf = (header: string): string => `$http_${header.toLowerCase().replaceAll('-', '_')}`

const challenge = ([token, keyAuthorization]: [string, string]): string => `
  location = /.well-known/acme-challenge/${token} {
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

/** This edge is the first hop that a backend may trust, so the forwarding headers of visitors are replaced. */
const proxy = (
  { host, target, proof }: Site,
  scheme: 'http' | 'https',
  authority: string,
): string => `  client_max_body_size 64m;

  location / {
    proxy_pass ${target};
    proxy_http_version 1.1;
    proxy_connect_timeout 5s;
    proxy_send_timeout 60s;
    proxy_read_timeout 300s;
    proxy_set_header Host ${host};
    proxy_set_header Upgrade $drawbridge_upgrade;
    proxy_set_header Connection $drawbridge_connection;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host ${authority};
    proxy_set_header X-Forwarded-Proto ${scheme};
    proxy_set_header Forwarded "";
    proxy_set_header Proxy "";
    proxy_hide_header ${UNKNOWN_HOST.header};
${proof === undefined ? '' : PROOF_KEPT}  }
`

function assertValid({ host, planId, target, challenges = {} }: Site): void {
  if (!isHost(host)) throw new Error(`${JSON.stringify(host)} is not a valid host name.`)
  if (!isPlanId(planId)) throw new Error(`${JSON.stringify(planId)} is not a plan id.`)
  if (!isTarget(target)) throw new Error(`${JSON.stringify(target)} is not http:// with an IP address and a port.`)
  for (const [token, keyAuthorization] of Object.entries(challenges)) {
    if (!TOKEN.test(token) || !KEY_AUTHORIZATION.test(keyAuthorization))
      throw new Error('The token or the key authorization of an ACME challenge has characters that are not allowed.')
  }
}

/** `http://`, an IP address in canonical form, a port, and nothing else. */
function isTarget(target: string): boolean {
  const [, endpoint = ''] = /^http:\/\/([0-9a-f.:[\]]+:\d{1,5})$/.exec(target) ?? []
  const parsed = parseEndpoint(endpoint, 0)
  return parsed !== undefined && target === `http://${formatEndpoint(parsed)}`
}
