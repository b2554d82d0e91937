import type { SiteDirective } from '../site-text.ts'

/** A change to the headers of requests. `told`: the differences that the sentence announces, in the rehearsal's names. */
interface HeaderFinding {
  readonly kind: 'carried' | 'changed' | 'lost' | 'refused'
  readonly directive: SiteDirective
  readonly sentence: string
  readonly told: readonly string[]
}

interface RequestHeaders {
  readonly findings: readonly HeaderFinding[]
  /** Whether the backend gets upgrades to WebSocket. */
  readonly websocket: boolean
}

interface Passing {
  /** The `proxy_pass`. */
  readonly pass: SiteDirective
  /** The `proxy_set_header` directives in effect, and the `proxy_http_version`. */
  readonly headers: readonly SiteDirective[]
  readonly version: string
  readonly host: string
  readonly scheme: 'http' | 'https'
  /** Where the host would be served. */
  readonly port: number
}

const SAME = 'An exposure does the same.'
const OWN_HOST = 'The backend gets the Host of the visitor, and not its own address as Host.'
const OTHER_HOST = 'The backend gets another Host than the visitor sends.'
const PLAIN_HOST = 'The backend gets the name of the host in lower case and without a port.'
const CREDENTIAL = 'By this header the backend may know who a visitor is, and visitors could send it themselves.'
const FORWARDED = 'The backend does not get this header as the site sets it.'
const NOT_SET = 'The backend does not get this header as the site sets it: visitors can send it themselves.'
const ADDRESS = 'The backend gets the address of the connection in this header, and nothing else.'
const APPENDED = 'The backend gets the address of the visitor alone: what visitors send in this header is dropped.'
const PROTOCOL = 'The backend gets the protocol of the connection in this header, and no other.'
const UPGRADES = 'Connection and Upgrade are sent to the backend for WebSockets only.'
const CONNECTIONS = 'The backend is asked by HTTP/1.1, and without Connection: close.'

/** The headers that an exposure sets itself, and the values that have the same effect. */
const OWN: Readonly<Record<string, { readonly same: readonly string[]; readonly sentence: string }>> = {
  'x-real-ip': { same: ['$remote_addr'], sentence: ADDRESS },
  'x-forwarded-for': { same: ['$remote_addr'], sentence: ADDRESS },
  'x-forwarded-proto': { same: ['$scheme'], sentence: PROTOCOL },
  'x-forwarded-host': { same: [], sentence: PLAIN_HOST },
  forwarded: { same: [''], sentence: FORWARDED },
  proxy: { same: [''], sentence: FORWARDED },
}

const TITLES: Readonly<Record<string, string>> = {
  'x-real-ip': 'X-Real-IP',
  'x-forwarded-for': 'X-Forwarded-For',
  'x-forwarded-proto': 'X-Forwarded-Proto',
  'x-forwarded-host': 'X-Forwarded-Host',
  forwarded: 'Forwarded',
  proxy: 'Proxy',
}

/** Headers by which backends authenticate visitors. A site that sets such a header prevents visitors from setting it. */
const CREDENTIALS =
  /^(cookie|x-auth|x-goog-|x-ms-client-)|(^|-)(auth|authori[sz]ation|authenticat\w+|webauth|remote|users?|username|userid|uid|login|e?mail|groups?|roles?|scopes?|identity|principal|subject|claims?|account|tenant|admin|impersonate|sso|saml|oidc|jwt|token|secret|key|apikey|session|cert|certificate|ssl|tls|verify|dn)(-|$)/

const isCredential = (name: string): boolean => name !== 'user-agent' && CREDENTIALS.test(name.replaceAll('_', '-'))

/** Judges the headers that the backend receives by their values, not by their names. */
export function judgeRequestHeaders(passing: Passing): RequestHeaders {
  const { pass, headers, version } = passing
  const set = new Map(headers.map((each) => [(each.args[0] ?? '').toLowerCase(), each]))
  const givenTo = (name: string) => set.get(name) && valueIn(set.get(name))
  const isAsOurs = givenTo('upgrade') === '$drawbridge_upgrade' && givenTo('connection') === '$drawbridge_connection'
  const isUpgrading = isAsOurs || givenTo('upgrade') === '$http_upgrade'
  const found: HeaderFinding[] = [...set].flatMap(([name, directive]) =>
    name === 'upgrade' || name === 'connection' ? [] : [judged(name, directive, passing)],
  )
  const tell = (kind: HeaderFinding['kind'], directive: SiteDirective, sentence: string, ...told: string[]) =>
    void found.push({ kind, directive, sentence, told })
  if (!set.has('host')) tell('lost', pass, OWN_HOST, 'request host', 'answer location')
  const added = Object.keys(OWN).filter((name) => !set.has(name))
  if (added.length > 0) tell('changed', pass, addedSentence(added), ...added.map((name) => `request ${name}`))
  const upgrade = set.get('upgrade')
  const connection = set.get('connection')
  if (upgrade && isAsOurs) tell('carried', upgrade, SAME)
  else if (upgrade && isUpgrading)
    tell('changed', connection ?? upgrade, UPGRADES, 'request connection', 'request upgrade', 'upgrade')
  else
    for (const each of [upgrade, connection])
      if (each && valueIn(each) === '') tell('carried', each, SAME)
      else if (each) tell('changed', each, UPGRADES, 'request connection', 'request upgrade')
  if (upgrade && !isUpgrading && givenTo('upgrade') !== '')
    tell('refused', upgrade, 'Every request asks the backend for an upgrade.')
  if (version !== '1.1' || (!isUpgrading && givenTo('connection') !== ''))
    tell(
      'changed',
      pass,
      CONNECTIONS,
      'version',
      'request connection',
      'request keep-alive',
      'request te',
      'request transfer-encoding',
      'request content-length',
    )
  return { findings: found, websocket: isUpgrading }
}

const addedSentence = (names: readonly string[]): string =>
  `The backend gets ${names.map((name) => TITLES[name]).join(', ')} from Drawbridge, and not from the visitor.`

function judged(name: string, directive: SiteDirective, passing: Passing): HeaderFinding {
  const value = valueIn(directive)
  const told = [`request ${name}`]
  const finding = (kind: HeaderFinding['kind'], sentence: string, more: readonly string[] = []) => ({
    ...{ kind, directive, sentence, told: kind === 'carried' ? [] : [...told, ...more] },
  })
  if (name === 'host') return hostFinding(value, passing.host, finding)
  const own = OWN[name]
  if (own) {
    if (own.same.includes(value) || isSameValue(name, value, passing)) return finding('carried', SAME)
    if (name === 'x-forwarded-for' && value === '$proxy_add_x_forwarded_for') return finding('changed', APPENDED)
    if (name === 'x-forwarded-host' && isHostValue(value)) return finding('changed', PLAIN_HOST)
    return finding('lost', own.sentence)
  }
  if (value === `$http_${name.replaceAll('-', '_')}`) return finding('carried', SAME)
  if (isCredential(name)) return finding('refused', CREDENTIAL)
  return finding('lost', NOT_SET, name === 'accept-encoding' ? COMPRESSED : [])
}

/** The backend sends an uncompressed answer if the request names no accepted encodings. */
const COMPRESSED = ['answer content-encoding', 'answer vary', 'body']

function hostFinding(
  value: string,
  host: string,
  finding: (kind: HeaderFinding['kind'], sentence: string, more?: readonly string[]) => HeaderFinding,
): HeaderFinding {
  if (['$host', '$server_name', host].includes(value)) return finding('carried', SAME)
  if (value === '$http_host') return finding('changed', PLAIN_HOST, ['answer location'])
  if (value === '$host:$server_port') return finding('lost', PLAIN_HOST, ['answer location'])
  if (value === '$proxy_host') return finding('lost', OWN_HOST, ['answer location'])
  return finding('refused', OTHER_HOST)
}

function isSameValue(name: string, value: string, { scheme, host, port }: Passing): boolean {
  if (name === 'x-forwarded-proto') return value === scheme
  if (name !== 'x-forwarded-host') return false
  const isUsualPort = port === (scheme === 'http' ? 80 : 443)
  return isUsualPort ? ['$host', '$server_name', host].includes(value) : value === `${host}:${port}`
}

const isHostValue = (value: string): boolean => /^\$(http_host|host|server_name)(:\$server_port)?$/.test(value)

/** In lower case, with every variable in one spelling. */
const valueIn = (directive: SiteDirective | undefined): string =>
  (directive?.args[1] ?? '').toLowerCase().replaceAll(/\$\{(\w+)\}/g, '$$$1')
