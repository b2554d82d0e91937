import type { Endpoint } from '../model/address.ts'
import { type CertificateScope, certificateNames } from '../model/certificate-names.ts'
import { isInZone } from '../model/dns-name.ts'
import { readSecretFile, Secret } from './secret.ts'
import type { Parse, Section } from './section.ts'
import * as value from './values.ts'

export interface Zone {
  readonly name: string
  /** The authoritative server that is asked and changed. */
  readonly primary: Endpoint
  /** Every server that must serve a challenge before a certificate authority is told of it. */
  readonly nameServers: readonly Endpoint[]
  readonly ttl: number
  /** What a host's name is given; undefined: the address of the Primary. */
  readonly publish: readonly PublishedRecord[] | undefined
  /** What TLS is served with: one certificate for all hosts of the zone, or one for each. */
  readonly certificate: CertificateScope
  /** The domain that a certificate authority counts the zone's names by. */
  readonly registeredDomain: string
  /** Without a key the zone can be planned in, but not changed. */
  readonly tsig: ZoneKey | undefined
}

interface PublishedRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME'
  readonly value: string
}

interface ZoneKey {
  readonly name: string
  readonly algorithm: 'hmac-sha256' | 'hmac-sha512'
  /** In base64. */
  readonly secret: Secret
}

/** Where secrets come from, and how names are proven. `path` makes a path of a setting. */
interface Sources {
  readonly path: Parse<string>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly challenge: 'dns-01' | 'http-01'
}

/** The zone that a host lies in: the innermost where one lies in another. */
export const zoneOf = (zones: ReadonlyMap<string, Zone>, host: string): Zone | undefined =>
  [...zones.values()].filter(({ name }) => isInZone(host, name)).toSorted((a, b) => b.name.length - a.name.length)[0]

/** What would be ordered for a host. */
export const namesToOrder =
  (zones: ReadonlyMap<string, Zone>) =>
  (zone: string, host: string): readonly string[] =>
    certificateNames(zones.get(zone)?.certificate ?? 'host', zone, host)

const SERVER = 'the IP address of the DNS server, with :port where it is not 53'

export function readZones(root: Section, sources: Sources): ReadonlyMap<string, Zone> {
  if (!root.has('zones'))
    root.refuse(
      'zones',
      'is missing: each zone with its DNS server, such as zones: { example.test: { primary: 192.168.45.253 } }',
    )
  const zones = root.section('zones')
  const found = new Map<string, Zone>()
  for (const key of zones.keys()) {
    const name = value.dnsName(key)
    if (!name || found.has(name)) zones.refuse(key, 'is not allowed; allowed: each DNS zone once, by its name')
    found.set(name ?? key, readZone(zones.section(key), name ?? key, sources))
  }
  return found
}

function readZone(section: Section, name: string, sources: Sources): Zone {
  const primary = section.required('primary', value.endpoint(53), { address: '', port: 53 }, SERVER)
  const nameServers = section.list('nameServers', [primary], value.endpoint(53), SERVER)
  if (nameServers.length === 0) section.refuse('nameServers', 'is empty; leave it out where only the primary counts')
  const ttl = section.read('ttl', 60, value.whole(1, 86_400), 'whole seconds, 1 to 86400')
  const publish = readPublish(section)
  const certificate = section.read('certificate', 'host', value.oneOf('wildcard', 'host'), 'wildcard or host')
  if (certificate === 'wildcard' && sources.challenge === 'http-01')
    section.refuse(
      'certificate',
      'is wildcard, but acme.challenge is http-01: wildcard certificates are issued by dns-01 only',
    )
  const tsig = section.section('tsig')
  return {
    name,
    primary,
    nameServers,
    ttl,
    publish,
    certificate,
    registeredDomain: readRegisteredDomain(section, name),
    tsig: section.has('tsig') ? readKey(tsig, name, sources) : undefined,
  }
}

/** By the last two labels more is counted together than an authority counts, never less. */
function readRegisteredDomain(section: Section, zone: string): string {
  const domain = section.read(
    'registeredDomain',
    zone.split('.').slice(-2).join('.'),
    value.dnsName,
    `the zone or a domain above it`,
  )
  if (!isInZone(zone, domain)) section.refuse('registeredDomain', `is neither ${zone} nor a domain above it`)
  return domain
}

/** Addresses, or one name that has them: a CNAME stands alone. */
function readPublish(zone: Section): readonly PublishedRecord[] | undefined {
  const section = zone.section('publish')
  if (!zone.has('publish')) return undefined
  const v4 = section
    .list('a', [], value.address4, 'IPv4 addresses')
    .map((address) => ({ type: 'A', value: address }) as const)
  const v6 = section
    .list('aaaa', [], value.address6, 'IPv6 addresses')
    .map((address) => ({ type: 'AAAA', value: address }) as const)
  const cname = section.read('cname', undefined, value.dnsName, 'the DNS name of the edge, such as edge.example.test')
  const addresses = [...v4, ...v6]
  if ((cname !== undefined) === addresses.length > 0)
    zone.refuse('publish', 'must have either addresses (a, aaaa) or one cname')
  return cname === undefined ? addresses : [{ type: 'CNAME', value: cname }]
}

function readKey(section: Section, zone: string, { path, environment }: Sources): ZoneKey {
  const name = section.required('name', keyName, '', 'the name of a key that the DNS server knows')
  const algorithms = ['hmac-sha256', 'hmac-sha512'] as const
  const algorithm = section.read('algorithm', 'hmac-sha256', value.oneOf(...algorithms), algorithms.join(' or '))
  const file = section.read('secretFile', undefined, path, 'the path of a file')
  const variable = `DRAWBRIDGE_TSIG_${zone.toUpperCase().replaceAll(/[.-]/g, '_')}`
  const secret = file === undefined ? new Secret(environment[variable] ?? '') : readSecretFile(file)
  if (typeof secret === 'string') section.refuse('secretFile', secret)
  else if (secret.reveal() === '')
    section.refuse(
      'secretFile',
      `is missing: a file that holds the key's secret; or set ${variable} in the environment`,
    )
  else if (!isBase64(secret.reveal())) section.refuse('secretFile', `or ${variable} holds something that is not base64`)
  return { name, algorithm, secret: typeof secret === 'string' ? new Secret('') : secret }
}

/** Keys are called by domain names, in which underscores are common. */
const keyName: Parse<string> = (given) =>
  typeof given === 'string' && /^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?$/.test(given)
    ? given.replace(/\.$/, '').toLowerCase()
    : undefined

const isBase64 = (text: string): boolean =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
