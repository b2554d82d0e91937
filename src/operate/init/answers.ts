import { networkInterfaces } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Endpoint, parseAddress, parseCidr, parseEndpoint } from '../../model/address.ts'
import { UsageError } from '../../terminal/declare.ts'
import { ask } from '../../terminal/question.ts'
import type { FoundNginx, InitParts } from './contract.ts'
import { authorityFileBeside, type Setup } from './files.ts'
import { absolute, certificatesIn, networksIn, optionValue, portIn, targetsIn, zoneIn } from './option-values.ts'

/** The options of the command. */
export interface InitOptions {
  readonly config: string
  readonly zone?: string
  readonly dnsServer?: string
  readonly address?: string
  readonly publish?: readonly string[]
  readonly server?: string
  readonly target?: readonly string[]
  readonly internalNetwork?: readonly string[]
  readonly nginx?: string
  readonly nginxConfig?: string
  readonly nginxPrefix?: string
  readonly httpPort?: string
  readonly httpsPort?: string
  readonly apiPort?: string
  readonly stateDir?: string
  readonly tsigName?: string
  readonly acmeDirectory?: string
  readonly acmeCa?: string
  readonly email?: readonly string[]
  readonly agent?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** What an option says that nobody gives. A second call compares only what is given. */
export const DEFAULTS = {
  server: '23',
  nginx: 'nginx',
  httpPort: '80',
  httpsPort: '443',
  apiPort: '8045',
  stateDir: '/var/lib/drawbridge',
  tsigName: 'drawbridge',
} as const satisfies Partial<InitOptions>

/** Asks a person. Undefined without a terminal. */
export type Ask = ((question: string, suggestion: string | undefined) => Promise<string>) | undefined

export const terminalAsk = (): Ask =>
  process.stdin.isTTY
    ? async (question, suggestion) => {
        const hint = suggestion === undefined ? '' : ` [${suggestion}]`
        const answer = await ask(`${question}${hint}: `)
        return answer.trim() || (suggestion ?? '')
      }
    : undefined

interface Question<T> {
  readonly option: string
  readonly question: string
  readonly given: string | undefined
  readonly suggestion?: string | undefined
  readonly parse: (text: string) => T | undefined
  readonly allowed: string
}

const TRIES = 3

/** Takes answers from options, and asks for the rest. Without a terminal all missing options are named at once. */
class Answers {
  readonly #ask: Ask
  readonly missing: string[] = []

  constructor(ask: Ask) {
    this.#ask = ask
  }

  async take<T>({ option, question, given, suggestion, parse, allowed }: Question<T>): Promise<T | undefined> {
    if (given !== undefined) {
      const value = parse(given)
      if (value === undefined)
        throw new UsageError(`${option} ${JSON.stringify(given)} is not valid. Allowed: ${allowed}.`)
      return value
    }
    if (!this.#ask) {
      const value = suggestion === undefined ? undefined : parse(suggestion)
      if (value === undefined) this.missing.push(`${option} (${allowed})`)
      return value
    }
    for (let tried = 0; tried < TRIES; tried += 1) {
      const value = parse(await this.#ask(question, suggestion))
      if (value !== undefined) return value
    }
    throw new UsageError(`Pass ${option}. Allowed: ${allowed}.`)
  }
}

/** Everything that the files need. Throws a UsageError for options that are wrong or missing. */
export async function gatherSetup(
  given: InitOptions,
  found: FoundNginx,
  { findDnsServer }: Pick<InitParts, 'findDnsServer'>,
  ask: Ask,
): Promise<Setup> {
  const options = { ...DEFAULTS, ...given }
  const answers = new Answers(ask)
  const addresses = ownAddresses()
  const zone = await answers.take({
    option: '--zone',
    question: 'The DNS zone in which names are exposed',
    given: options.zone,
    parse: zoneIn,
    allowed: 'a DNS zone, such as example.com',
  })
  const foundDns = zone !== undefined && options.dnsServer === undefined ? await findDnsServer(zone) : undefined
  const dnsServer = await answers.take({
    option: '--dns-server',
    question: 'The authoritative DNS server that takes updates',
    given: options.dnsServer,
    suggestion: foundDns && `${foundDns.address}:${foundDns.port}`,
    parse: (text) => parseEndpoint(text, 53),
    allowed: 'an IP address, with :port where it is not 53',
  })
  const address = await answers.take({
    option: '--address',
    question: 'The address of this server that visitors reach',
    given: options.address,
    suggestion: addresses.length === 1 ? addresses[0]?.address : undefined,
    parse: parseAddress,
    allowed: 'an IP address of this server',
  })
  const network = addresses.find((one) => one.address === address)?.network
  const internalNetworks = await answers.take({
    option: '--internal-network',
    question: 'The network whose callers may apply and remove',
    given: options.internalNetwork?.join(','),
    suggestion: network,
    parse: networksIn,
    allowed: 'networks in CIDR form, such as 192.168.45.0/24',
  })
  const targets = await answers.take({
    option: '--target',
    question: 'The other servers with services, such as 25=192.168.45.25, separated by commas',
    given: options.target?.join(','),
    suggestion: 'none',
    parse: targetsIn,
    allowed: 'an id and an IP address, such as 25=192.168.45.25',
  })
  const acme = await gatherAuthority(options, answers)
  if (!zone || !dnsServer || !address || !internalNetworks || !targets)
    throw new UsageError(`Not a terminal: pass ${answers.missing.join(', ')}.`)
  assertOthers(targets, options.server, address)
  return setupOf(options, found, { zone, dnsServer, address, internalNetworks, targets, acme })
}

async function gatherAuthority(options: InitOptions, answers: Answers): Promise<Setup['acme']> {
  const directory = await answers.take({
    option: '--acme-directory',
    question: 'The certificate authority: letsencrypt, letsencrypt-staging or the URL of an ACME directory',
    given: options.acmeDirectory,
    suggestion: 'letsencrypt',
    parse: (text) => (/^(?:letsencrypt(?:-staging)?|https:\/\/\S+)$/.test(text) ? text : undefined),
    allowed: 'letsencrypt, letsencrypt-staging or an https:// address',
  })
  const isPrivate = directory?.startsWith('https:') === true
  if (directory && !isPrivate && (options.acmeCa ?? 'none') !== 'none')
    throw new UsageError(
      `--acme-ca ${options.acmeCa} is for a private authority, and --acme-directory is ${directory}. Pass the URL of its directory, or leave --acme-ca out.`,
    )
  const ca = isPrivate
    ? await answers.take({
        option: '--acme-ca',
        question: "The file with the root certificate of the authority's own API, if it is a private one",
        given: options.acmeCa,
        suggestion: 'none',
        parse: certificatesIn,
        allowed: 'a file with a certificate as PEM',
      })
    : undefined
  return { directory: directory ?? '', contact: options.email ?? [], ca: ca || undefined }
}

interface Basics {
  readonly zone: string
  readonly dnsServer: Endpoint
  readonly address: string
  readonly internalNetworks: readonly string[]
  readonly targets: ReadonlyMap<string, string>
  readonly acme: Setup['acme']
}

function setupOf(
  options: InitOptions & Required<Pick<InitOptions, keyof typeof DEFAULTS>>,
  found: FoundNginx,
  { zone, dnsServer, address, internalNetworks, targets, acme }: Basics,
): Setup {
  const { binary, config, prefix, pidFile, errorLog } = found
  const folder = dirname(resolve(options.config))
  const ports = { http: portIn('--http-port', options.httpPort), https: portIn('--https-port', options.httpsPort) }
  return {
    nginx: {
      ...{ binary, config, prefix, pidFile, errorLog, address, ports },
      server: options.server,
      folder: join(dirname(config), 'drawbridge'),
      listen: [address],
    },
    api: { address, port: portIn('--api-port', options.apiPort) },
    stateDir: absolute('--state-dir', options.stateDir),
    targets,
    internalNetworks,
    zone,
    dnsServer,
    publish: (options.publish ?? []).map((text) => optionValue('--publish', text, parseAddress, 'an IP address')),
    keyName: options.tsigName.replace(/\.$/, ''),
    keyFile: join(folder, 'tsig.key'),
    acme,
    caFile: authorityFileBeside(folder),
    agentSocket: options.agent ? '/run/drawbridge/edge.sock' : undefined,
  }
}

/** The address of this server is that of its nginx, which no other option may replace. */
function assertOthers(targets: ReadonlyMap<string, string>, server: string, address: string): void {
  const at = targets.get(server)
  if (at === undefined) return
  throw new UsageError(
    `--target ${server}=${at} has the id of this server (--server ${server}), whose address is ${address} (--address). ` +
      'Pass other servers as targets, or another --server.',
  )
}

const PRIVATE = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/

/** The IPv4 addresses of this machine, each with its network if that is a private one. */
function ownAddresses(): { address: string; network: string | undefined }[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address, cidr }) => ({ address, network: PRIVATE.test(address) ? networkOf(cidr ?? '') : undefined }))
}

/** `192.168.45.23/24` -> `192.168.45.0/24` */
function networkOf(cidr: string): string | undefined {
  const parsed = parseCidr(cidr)
  if (!parsed) return undefined
  const number = parsed.address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - parsed.prefix)
  const first = Math.floor(number / size) * size
  return `${[24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.')}/${parsed.prefix}`
}
