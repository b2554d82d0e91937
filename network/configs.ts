import { chownSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { edgeFiles } from '../lab/nginx.ts'
import { apiCertificateFile } from '../lab/pebble.ts'
import { ACME_DIRECTORY, configFile } from './description.ts'
import { DATABASE_NAME, TSIG } from './parts.ts'
import { agentConfigFile, agentFolder, edgeOf, makeServiceFolder, type Paths, writeForService } from './paths.ts'
import { AGENT_SOCKET, AGENTS, addressOf, DATABASE, DNS, type INSTANCES, SERVICE_USER, ZONE } from './plan.ts'

type Instance = keyof typeof INSTANCES
type Agent = keyof typeof AGENTS

/** Writes `drawbridge.yaml` and its secrets for one instance. What is not written here has the default of the specification. */
export function writeServiceConfig(paths: Paths, machine: Instance): void {
  const secrets = paths.of(machine, 'secrets')
  for (const folder of [secrets, paths.of(machine, 'service')]) makeServiceFolder(folder)
  const secret = (name: string, value: string): string => {
    const file = paths.of(machine, 'secrets', name)
    writeForService(file, value)
    return file
  }
  const password = encodeURIComponent(readFileSync(paths.databasePassword, 'utf8'))
  const store = `postgres://${DATABASE_NAME}:${password}@${DATABASE.address}:${DATABASE.port}/${DATABASE_NAME}`
  const config = {
    stateDir: paths.of(machine, 'service'),
    storeFile: secret('store', store),
    edges: { '23': { agent: agentOf('23', machine) }, '73': { agent: agentOf('73', machine) } },
    zones: {
      [ZONE]: {
        primary: endpoint(DNS.primary),
        nameServers: [endpoint(DNS.primary), endpoint(DNS.secondary)],
        tsig: { ...TSIG, secretFile: secret('tsig', readFileSync(paths.tsigSecret, 'utf8')) },
      },
    },
    acme: { directory: ACME_DIRECTORY, caFile: apiCertificateFile(paths.of('ca', 'pebble')) },
  }
  writeForService(configFile(paths, machine), stringify(config))
}

/** Writes `edge.yaml` of the agent on a machine. */
export function writeAgentConfig(paths: Paths, machine: Agent): void {
  const config = {
    server: machine,
    nginx: { ...edgeFiles(edgeOf(paths, machine)), address: addressOf(machine) },
    zones: [ZONE],
    // An instance runs on 23 too.
    ...(machine === '23' && { socket: { path: AGENT_SOCKET, group: String(SERVICE_USER.id) } }),
    listen: AGENTS[machine],
    stateDir: agentFolder(paths, machine),
  }
  writeFileSync(agentConfigFile(paths, machine), stringify(config), { mode: 0o600 })
}

/** Copies the key of the store, which the first instance has made, as an administrator does. */
export function shareStoreKey(paths: Paths): void {
  const copy = paths.of('25', 'service', 'store.key')
  copyFileSync(paths.of('23', 'service', 'store.key'), copy)
  chownSync(copy, SERVICE_USER.id, SERVICE_USER.id)
}

/** How an instance reaches the agent of a server. */
const agentOf = (server: Agent, from: Instance) =>
  server === from ? { socket: AGENT_SOCKET } : { address: AGENTS[server].address, port: AGENTS[server].port }

const endpoint = ({ address, port }: { readonly address: string; readonly port: number }): string =>
  `${address}:${port}`
