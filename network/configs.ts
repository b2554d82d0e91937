import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { edgeFiles } from '../lab/nginx.ts'
import { apiCertificateFile } from '../lab/pebble.ts'
import { ACME_DIRECTORY, configFile } from './description.ts'
import { DATABASE_NAME, TSIG } from './parts.ts'
import { edgeOf, makeServiceFolder, type Paths, writeForService } from './paths.ts'
import { DATABASE, DNS, type INSTANCES, ZONE } from './plan.ts'

type Instance = keyof typeof INSTANCES

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
    storeKeyFile: secret('store-key', storeKey(password)),
    edges: edges(paths),
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

/** The same key file on every machine, as an administrator copies it. */
function storeKey(password: string): string {
  const key = createHash('sha256').update(`store key ${password}`).digest()
  const id = createHash('sha256').update(key).digest('hex').slice(0, 16)
  return `key-${id} ${key.toString('base64')}\n`
}

const endpoint = ({ address, port }: { readonly address: string; readonly port: number }): string =>
  `${address}:${port}`

const edges = (paths: Paths) => ({ '23': edgeFiles(edgeOf(paths, '23')) })
