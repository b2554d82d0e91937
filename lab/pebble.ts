import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EDGE_PORTS, type Endpoint } from './addresses.ts'
import { mergeRoots } from './ca-roots.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { findProgram } from './program.ts'
import { writeFileAtomically } from './state.ts'
import { get, httpStatus } from './web-question.ts'

export interface PebbleOptions {
  readonly folder: string
  readonly api: Endpoint
  readonly management: Endpoint
  readonly dns: Endpoint
  /** The ports on which it visits a host. Default: those of the lab's edges. */
  readonly edgePorts?: { readonly http: number; readonly https: number }
  /** Collects the root certificates: Pebble makes a new one at each start. */
  readonly rootsFile: string
  /** External accounts: key identifier -> MAC key in base64url. If set, Pebble accepts only these accounts. */
  readonly externalAccounts?: Readonly<Record<string, string>> | undefined
  /** The lifetime of certificates. Default: 90 days. */
  readonly certificateSeconds?: number | undefined
}

/** The certificate of Pebble's own API. */
export const apiCertificateFile = (folder: string): string => join(folder, 'api-cert.pem')

export async function startPebble(options: PebbleOptions): Promise<Daemon> {
  const { folder, api } = options
  makeApiCertificate(folder, api.address)
  const certificate = readFileSync(apiCertificateFile(folder), 'utf8')
  const config = join(folder, 'pebble.json')
  writeFileSync(config, pebbleConfig(options), { mode: 0o600 })
  const pebble = await startDaemon({
    name: 'Pebble',
    program: findProgram('pebble', 'pebble'),
    args: ['-config', config, '-dnsserver', `${options.dns.address}:${options.dns.port}`, '-strict=true'],
    logFile: join(folder, 'pebble.log'),
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' },
    isReady: async () => (await httpStatus(`https://${api.address}:${api.port}/dir`, certificate)) === 200,
  })
  try {
    await storeRoot(options, certificate)
  } catch (error) {
    await pebble.stop()
    throw error
  }
  return pebble
}

async function storeRoot({ management, rootsFile }: PebbleOptions, certificate: string): Promise<void> {
  const answer = await get(`https://${management.address}:${management.port}/roots/0`, certificate)
  if (answer?.status !== 200)
    throw new Error('Pebble runs, but its management port did not return the root certificate.')
  const known = existsSync(rootsFile) ? readFileSync(rootsFile, 'utf8') : ''
  writeFileAtomically(rootsFile, mergeRoots(known, answer.body), 0o644)
}

function makeApiCertificate(folder: string, address: string): void {
  const file = apiCertificateFile(folder)
  if (existsSync(file)) return
  const draft = `${file}.new`
  const content = ['-days', '3650', '-subj', '/CN=Pebble in the lab', '-addext', `subjectAltName=IP:${address}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile(folder)]
  const openssl = findProgram('openssl', 'openssl')
  execFileSync(openssl, ['req', '-x509', ...key, '-out', draft, ...content], { stdio: 'pipe' })
  renameSync(draft, file)
}

const keyFile = (folder: string): string => join(folder, 'api-key.pem')

function pebbleConfig(options: PebbleOptions): string {
  const { folder, api, management, externalAccounts, certificateSeconds = 7_776_000, edgePorts = EDGE_PORTS } = options
  const pebble = {
    listenAddress: `${api.address}:${api.port}`,
    managementListenAddress: `${management.address}:${management.port}`,
    certificate: apiCertificateFile(folder),
    privateKey: keyFile(folder),
    httpPort: edgePorts.http,
    tlsPort: edgePorts.https,
    ocspResponderURL: '',
    certificateValidityPeriod: certificateSeconds,
    externalAccountBindingRequired: externalAccounts !== undefined,
    externalAccountMACKeys: externalAccounts ?? {},
  }
  return `${JSON.stringify({ pebble }, null, 2)}\n`
}
