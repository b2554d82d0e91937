import { join } from 'node:path'
import { type Endpoint, formatEndpoint } from '../../model/address.ts'
import type { NginxPlace, UpdateKey } from './contract.ts'

/** The answers from which the files are made. */
export interface Setup {
  readonly nginx: NginxPlace
  /** Where the API and the page are served. */
  readonly api: Endpoint
  readonly stateDir: string
  /** Other servers with services, by id. */
  readonly targets: ReadonlyMap<string, string>
  readonly internalNetworks: readonly string[]
  readonly zone: string
  readonly dnsServer: Endpoint
  readonly publish: readonly string[]
  readonly keyName: string
  readonly keyFile: string
  /** `ca`: the text of the file with the authority's own root. */
  readonly acme: { readonly directory: string; readonly contact: readonly string[]; readonly ca: string | undefined }
  /** Where that text is kept. */
  readonly caFile: string
  /** Where the agent of the nginx listens. Undefined: the service changes nginx itself. */
  readonly agentSocket: string | undefined
}

const quoted = (text: string): string => JSON.stringify(text)
const list = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`

/** The settings of an nginx, with this indent. */
const nginxLines = ({ config, folder, binary, prefix, pidFile, errorLog, address, listen }: NginxPlace): string[] => [
  `config: ${quoted(config)}`,
  `folder: ${quoted(folder)}`,
  `binary: ${quoted(binary)}`,
  ...(prefix === undefined ? [] : [`prefix: ${quoted(prefix)}`]),
  `pidFile: ${quoted(pidFile)}`,
  `errorLog: ${quoted(errorLog)}`,
  `address: ${quoted(address)}`,
  `# Where other servers of this nginx listen on all addresses, Drawbridge listens there, too, and leaves the default server to them.`,
  `listen: ${list(listen)}`,
]

export function renderConfig(setup: Setup, file: string): string {
  const { nginx, api, stateDir, targets, internalNetworks, zone, dnsServer, publish, keyName, keyFile, acme } = setup
  const { server, address, ports } = nginx
  const addresses = new Map([[server, address], ...targets])
  const edge =
    setup.agentSocket === undefined ? nginxLines(nginx) : ['agent:', `  socket: ${quoted(setup.agentSocket)}`]
  return `# Written by drawbridge init. drawbridge.example.yaml has every other setting.
# Check it with: drawbridge doctor --config ${file}

# Where the API and the page are served.
listen:
  address: ${quoted(api.address)}
  port: ${api.port}

# Who may apply and remove.
internalNetworks: ${list(internalNetworks)}

# Drawbridge's own files.
stateDir: ${quoted(stateDir)}

# The servers whose services may be exposed, by id. The primary is this server.
servers:
  addresses:
${[...addresses].map(([id, at]) => `    ${quoted(id)}: ${quoted(at)}`).join('\n')}
  targets: ${list([...addresses.keys()])}
  primary: ${quoted(server)}
  secondary: none

# The ports on which nginx serves exposed hosts.
edge:
  http: ${ports.http}
  https: ${ports.https}

# ${setup.agentSocket === undefined ? 'The nginx of this server.' : 'The nginx of this server belongs to the agent: see edge.yaml.'}
edges:
  ${quoted(server)}:
${edge.map((line) => `    ${line}`).join('\n')}

# The zone in which names may be exposed, its DNS server, and the key that signs changes.
zones:
  ${quoted(zone)}:
    primary: ${quoted(formatEndpoint(dnsServer))}
${publish.length === 0 ? '' : `    publish:\n      a: ${list(publish.filter((one) => !one.includes(':')))}\n      aaaa: ${list(publish.filter((one) => one.includes(':')))}\n`}    tsig:
      name: ${quoted(keyName)}
      algorithm: ${NEW_KEY_ALGORITHM}
      secretFile: ${quoted(keyFile)}

# Where certificates come from.
acme:
  directory: ${quoted(acme.directory)}
  contact: ${list(acme.contact)}
${acme.ca === undefined ? '' : `  caFile: ${quoted(setup.caFile)}\n`}`
}

/** edge.yaml, for the agent. */
export function renderAgentConfig({ nginx, targets, zone, agentSocket }: Setup): string {
  return `# Written by drawbridge init. edge.example.yaml has every other setting.

# The id of this server, as in drawbridge.yaml.
server: ${quoted(nginx.server)}

# The nginx of this server.
nginx:
${nginxLines(nginx)
  .map((line) => `  ${line}`)
  .join('\n')}
ports:
  http: ${nginx.ports.http}
  https: ${nginx.ports.https}

# What an entry may be proxied to.
targets:
  addresses: ${list([...new Set([nginx.address, ...targets.values()])])}
  ports: ["80", "443", "1024-65535"]

# The zones whose hosts may have entries here.
zones: ${list([zone])}

# Where the service finds the agent.
socket:
  path: ${quoted(agentSocket ?? '')}
  group: drawbridge
`
}

export const agentFileBeside = (folder: string): string => join(folder, 'edge.yaml')
export const authorityFileBeside = (folder: string): string => join(folder, 'authority.pem')

/** Of the key that `init` makes, and of the secret that it finds without a configuration. */
export const NEW_KEY_ALGORITHM = 'hmac-sha256'

/** The key may change no others: not the name servers of the zone, and nobody's mail. */
export const GRANTED_TYPES = ['A', 'AAAA', 'TXT'] as const

interface Pasted {
  readonly name: string
  readonly key: UpdateKey
  /** Where the secret stands, which is not shown then. */
  readonly keptIn: string | undefined
  readonly types: readonly string[]
  readonly address: string
}

/** What the administrator of the DNS server adds, for three servers. */
export function renderKeyHelp({ name: zone, key, keptIn, types, address }: Pasted): string[] {
  const { name: keyName, algorithm } = key
  const secret = keptIn === undefined ? key.secret : 'SECRET'
  return [
    `Add the key to the DNS server of ${zone}. Choose the server that you run.`,
    ...(keptIn === undefined ? [] : [`SECRET stands for what is in ${keptIn}.`]),
    '',
    'BIND (named.conf, with the zone file in /var/lib/bind, where named may write its journal), then rndc reconfig:',
    `  key "${keyName}." { algorithm ${algorithm}; secret "${secret}"; };`,
    `  zone "${zone}" { …; update-policy { grant ${keyName}. zonesub ${types.join(' ')}; }; };`,
    '',
    'Knot (knot.conf), then knotc reload:',
    '  key:',
    `    - id: ${keyName}`,
    `      algorithm: ${algorithm}`,
    `      secret: ${secret}`,
    '  acl:',
    `    - id: ${keyName}`,
    `      key: ${keyName}`,
    '      action: update',
    `      update-type: [${types.join(', ')}]`,
    '  zone:',
    `    - domain: ${zone}`,
    `      acl: ${keyName}`,
    '',
    'PowerDNS (with dnsupdate=yes in pdns.conf; the key may change records of all types there):',
    `  pdnsutil import-tsig-key ${keyName} ${algorithm} ${secret}`,
    `  pdnsutil set-meta ${zone} TSIG-ALLOW-DNSUPDATE ${keyName}`,
    `  pdnsutil set-meta ${zone} ALLOW-DNSUPDATE-FROM ${address}`,
  ]
}

const CONTEXT = 2

/** The lines that differ between two texts, in the form of `diff -u`. Empty for equal texts. */
export function unifiedDiff(path: string, before: string, after: string): string[] {
  if (before === after) return []
  const [old, now] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && old[start] === now[start]) start += 1
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1
  const from = Math.max(0, start - CONTEXT)
  const [oldTo, nowTo] = [old.length - Math.max(0, end - CONTEXT), now.length - Math.max(0, end - CONTEXT)]
  return [
    `--- ${path}`,
    `+++ ${path}`,
    `@@ -${from + 1},${oldTo - from} +${from + 1},${nowTo - from} @@`,
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...now.slice(now.length - end, nowTo).map((line) => ` ${line}`),
  ]
}
