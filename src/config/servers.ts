import { type StaticDecode, Type } from 'typebox'
import type { ConfigDocument } from './document.ts'
import type { NamedFiles } from './named-files.ts'
import * as value from './values.ts'

/** The registry: every server with an id, and its role. */
export interface Servers {
  readonly addresses: Readonly<Record<string, string>>
  readonly targets: readonly string[]
  readonly primary: string
  readonly secondary: string | undefined
}

/** One nginx on this machine that serves exposures. */
interface EdgeSetting {
  readonly config: string
  readonly folder: string
  readonly prefix: string | undefined
  readonly binary: string
  readonly pidFile: string
  readonly errorLog: string
  /** The address that Drawbridge connects to. */
  readonly address: string
  /** The addresses that nginx listens on. */
  readonly listen: readonly string[]
  /** Files for the options of hosts. */
  readonly named: NamedFiles
}

/** Edges by the id of their server. */
export type Edges = Readonly<Record<string, EdgeSetting>>

/** Where the agent of an edge listens. */
export type AgentSetting = { readonly socket: string } | { readonly address: string; readonly port: number }

/** Edges that an agent owns, by the id of their server. */
export type Agents = Readonly<Record<string, AgentSetting>>

const ID = 'the id of a server, such as 23'

export const serversSchema = Type.Object({
  addresses: Type.Record(Type.String(), value.address('an IP address'), {
    default: { '23': '192.168.45.23', '25': '192.168.45.25', '253': '192.168.45.253', '73': '192.168.45.73' },
  }),
  targets: Type.Array(value.serverId('ids of servers'), { default: ['23', '25', '253'] }),
  primary: value.serverId(ID, '23'),
  secondary: value.serverId(`${ID}, or none`, '73'),
})

/** The settings of an nginx of this machine. */
export const nginxSettings = (folder: string) => ({
  config: value.nginxPath(folder, 'the path of a file', '/etc/nginx/nginx.conf'),
  folder: value.nginxPath(folder, 'the path of a folder', '/etc/nginx/drawbridge'),
  prefix: Type.Optional(value.path(folder, 'the path of a folder')),
  binary: value.program(folder, 'nginx'),
  pidFile: value.path(folder, 'the path of a file', '/run/nginx.pid'),
  errorLog: value.path(folder, 'the path of a file', '/var/log/nginx/error.log'),
  address: Type.Optional(value.address('an IP address of the edge')),
  listen: Type.Optional(Type.Array(value.address('IP addresses of the edge'))),
})

const edgeSchema = (folder: string) =>
  Type.Object({
    agent: Type.Optional(
      Type.Object({
        socket: Type.Optional(value.path(folder, 'the path of a unix socket')),
        address: Type.Optional(value.address('an IP address')),
        port: value.port(AGENT_PORT),
      }),
    ),
    ...nginxSettings(folder),
  })

/** Where an agent listens, if neither configuration says otherwise. */
export const AGENT_PORT = 8046

/** Edges by the id of their server. Default: the Primary runs nginx as Debian installs it. */
export const edgesSchema = (folder: string) => Type.Optional(Type.Record(Type.String(), edgeSchema(folder)))

/** The Primary's edge if the file has no `edges`. */
export const defaultEdges = (folder: string, { primary }: Servers, document: ConfigDocument) => ({
  [primary]: document.defaultsOf(edgeSchema(folder)),
})

type EdgeFile = StaticDecode<ReturnType<typeof edgeSchema>>

export function readServers(settings: StaticDecode<typeof serversSchema>, document: ConfigDocument): Servers {
  const { addresses, targets, primary } = settings
  const secondary = settings.secondary === 'none' ? undefined : settings.secondary
  for (const id of Object.keys(addresses).filter((id) => !value.SERVER_ID.test(id)))
    document.refuse(['servers', 'addresses', id], 'is not valid. Allowed: up to 32 letters, digits and hyphens.')
  for (const [field, ids] of Object.entries({ targets, primary: [primary], secondary: secondary ? [secondary] : [] })) {
    for (const unknown of ids.filter((id) => addresses[id] === undefined)) {
      const known = Object.keys(addresses).join(', ')
      document.refuse(['servers', field], `names ${unknown}, which has no address. Allowed: ${known}.`)
    }
  }
  return { addresses, targets, primary, secondary }
}

export function readEdges(
  edges: Readonly<Record<string, EdgeFile>>,
  { addresses }: Servers,
  named: NamedFiles,
  document: ConfigDocument,
): { readonly edges: Edges; readonly agents: Agents } {
  const found: Record<string, EdgeSetting> = {}
  const agents: Record<string, AgentSetting> = {}
  for (const [server, { agent, prefix, address: asked, listen, ...setting }] of Object.entries(edges)) {
    if (addresses[server] === undefined) {
      const known = Object.keys(addresses).join(', ')
      document.refuse(['edges', server], `is not valid. Allowed: ids of servers (${known}).`)
    }
    const address = asked ?? addresses[server] ?? ''
    if (agent) agents[server] = readAgent(server, agent, document)
    else found[server] = { ...setting, prefix, address, named, listen: listen ?? [address] }
  }
  return { edges: found, agents }
}

function readAgent(
  server: string,
  { socket, address, port }: NonNullable<EdgeFile['agent']>,
  document: ConfigDocument,
): AgentSetting {
  const place = ['edges', server]
  for (const setting of Object.keys(nginxSettings('')).filter((name) => document.isSet([...place, name])))
    document.refuse(
      [...place, setting],
      "is set beside agent. It belongs into the nginx section of the agent's edge.yaml.",
    )
  if (socket !== undefined && address === undefined) return { socket }
  if (address !== undefined && socket === undefined) return { address, port }
  document.refuse([...place, 'agent'], 'is not valid. Allowed: either socket, or address and port.')
  return { socket: '' }
}
