import { dirname } from 'node:path'
import { Type } from 'typebox'
import type { Endpoint } from '../model/address.ts'
import { deepFreeze, readFile } from './config.ts'
import { ConfigDocument } from './document.ts'
import { checkNamedFiles, namedFilesSchema } from './named-files.ts'
import { AGENT_PORT, type Edges, nginxSettings } from './servers.ts'
import * as value from './values.ts'

/** The configuration of an edge agent: edge.yaml. */
export interface EdgeAgentConfig {
  readonly server: string
  readonly nginx: Edges[string]
  readonly ports: { readonly http: number; readonly https: number }
  /** What entries may be proxied to. */
  readonly targets: {
    readonly addresses: readonly string[]
    readonly ports: readonly (readonly [number, number])[]
  }
  /** The zones of the hosts that services may have entries for. Empty in a file of a former version: then no new entry is taken. */
  readonly zones: readonly string[]
  /** Whether services may take hand-written sites of this nginx under management. */
  readonly adopt: { readonly enabled: boolean }
  /** For services on this machine. */
  readonly socket: { readonly path: string; readonly group: string | undefined } | undefined
  /** For services on other machines. */
  readonly listen: Endpoint | undefined
  /** The certificate and the key for `listen`. */
  readonly stateDir: string
  readonly log: { readonly level: string }
}

/** Every setting of the file. Relative paths are resolved against `folder`. */
export const edgeAgentSchema = (folder: string) =>
  Type.Object({
    server: value.serverId('the id of this server, such as 23'),
    nginx: Type.Object({ ...nginxSettings(folder), address: value.address('the IP address of this edge') }),
    ports: Type.Object({ http: value.port(80), https: value.port(443) }),
    targets: Type.Object({
      addresses: Type.Array(value.address('IP addresses of servers'), {
        default: ['192.168.45.23', '192.168.45.25', '192.168.45.253'],
      }),
      ports: Type.Array(value.portRange, { default: ['80', '443', '1024-65535'] }),
    }),
    zones: Type.Optional(Type.Array(value.dnsName('names of zones, such as example.test'), { minItems: 1 })),
    options: namedFilesSchema(folder),
    adopt: Type.Object({ enabled: value.truth(false) }),
    socket: Type.Optional(
      Type.Object({
        path: value.path(folder, 'the path of a unix socket'),
        group: Type.Optional(value.group),
      }),
    ),
    listen: Type.Optional(
      Type.Object({ address: value.address('an IP address of this machine'), port: value.port(AGENT_PORT) }),
    ),
    stateDir: value.path(folder, 'the path of a folder', '/var/lib/drawbridge-edge'),
    log: Type.Object({
      level: value.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    }),
  })

export const loadEdgeAgentConfig = (file: string): EdgeAgentConfig => readEdgeAgentConfig(readFile(file), file)

/** Throws one ConfigError with all faults. */
export function readEdgeAgentConfig(text: string, file: string): EdgeAgentConfig {
  const document = new ConfigDocument(text, file)
  const { nginx, socket, listen, options, zones = [], ...settings } = document.read(edgeAgentSchema(dirname(file)))
  if (!socket && !listen)
    document.refuse(['socket'], 'is missing. Set socket, listen, or both: otherwise no service can reach the agent.')
  const named = checkNamedFiles(options, document)
  document.assertSound()
  return deepFreeze({
    ...settings,
    zones,
    socket: socket && { path: socket.path, group: socket.group },
    listen,
    nginx: { ...nginx, prefix: nginx.prefix, listen: nginx.listen ?? [nginx.address], named },
  })
}
