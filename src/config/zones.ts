import { type StaticDecode, Type } from 'typebox'
import type { Endpoint } from '../model/address.ts'
import { isInZone, parseName } from '../model/dns-name.ts'
import { requiredSecret, type Secret, type SecretSources } from './secret.ts'
import * as value from './values.ts'

export interface Zone {
  readonly name: string
  /** The authoritative server for queries and updates. */
  readonly primary: Endpoint
  /** Every server that must serve a challenge before the certificate authority validates it. */
  readonly nameServers: readonly Endpoint[]
  readonly ttl: number
  /** The records of a host. Undefined: the address of the Primary. */
  readonly publish: readonly PublishedRecord[] | undefined
  /** One certificate for all hosts of the zone, or one for each. */
  readonly certificate: CertificateScope
  /** The domain that a certificate authority uses for its limits. */
  readonly registeredDomain: string
  /** Without a key the zone accepts plans, but no apply. */
  readonly tsig: ZoneKey | undefined
  /** The key that replaces `tsig`. Used as soon as the server accepts it and no longer the other. */
  readonly nextTsig: ZoneKey | undefined
}

interface PublishedRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME'
  readonly value: string
}

export interface ZoneKey {
  readonly name: string
  readonly algorithm: 'hmac-sha256' | 'hmac-sha512'
  /** In base64. */
  readonly secret: Secret
}

/** The zone of a host. If several match, the longest. */
export const zoneOf = (zones: ReadonlyMap<string, Zone>, host: string): Zone | undefined =>
  [...zones.values()].filter(({ name }) => isInZone(host, name)).toSorted((a, b) => b.name.length - a.name.length)[0]

/** The names of the certificate that would be ordered for a host. */
export const namesToOrder = (zones: ReadonlyMap<string, Zone>, zone: string, host: string): readonly string[] =>
  certificateNames(zones.get(zone)?.certificate ?? 'host', zone, host)

const dnsServer = value.dnsServer('the IP address of the DNS server, with :port where it is not 53')

/** TSIG keys have domain names. Underscores are common in them. */
const keyName = value.parsed(
  (given) =>
    /^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?$/.test(given)
      ? given.replace(/\.$/, '').toLowerCase()
      : undefined,
  { allowed: 'the name of a key that the DNS server knows' },
)

const keySchema = (folder: string) =>
  Type.Object({
    name: keyName,
    algorithm: value.oneOf(['hmac-sha256', 'hmac-sha512'], 'hmac-sha256'),
    secretFile: Type.Optional(value.path(folder, 'the path of a file')),
  })

const zoneSchema = (folder: string) =>
  Type.Object({
    primary: dnsServer,
    nameServers: Type.Optional(Type.Array(dnsServer)),
    ttl: value.seconds(1, 86_400, 60),
    publish: Type.Optional(
      Type.Object({
        a: Type.Array(value.address4, { default: [] }),
        aaaa: Type.Array(value.address6, { default: [] }),
        cname: Type.Optional(value.dnsName('the DNS name of the edge, such as edge.example.test')),
      }),
    ),
    certificate: value.oneOf(['wildcard', 'host'], 'host'),
    registeredDomain: Type.Optional(value.dnsName('the zone or a domain above it')),
    tsig: Type.Optional(keySchema(folder)),
    nextTsig: Type.Optional(keySchema(folder)),
  })

export const zonesSchema = (folder: string) =>
  Type.Record(Type.String(), zoneSchema(folder), {
    allowed: 'each zone with its DNS server, such as zones: { example.test: { primary: 192.168.45.253 } }',
  })

type ZoneFile = StaticDecode<ReturnType<typeof zoneSchema>>

interface ZoneSources extends SecretSources {
  readonly challenge: 'dns-01' | 'http-01'
}

export function readZones(zones: Readonly<Record<string, ZoneFile>>, sources: ZoneSources): ReadonlyMap<string, Zone> {
  const found = new Map<string, Zone>()
  for (const [key, settings] of Object.entries(zones)) {
    const name = parseName(key)
    if (!name || found.has(name))
      sources.document.refuse(['zones', key], 'is not valid. Allowed: each DNS zone once, by its name.')
    found.set(name ?? key, readZone(settings, key, name ?? key, sources))
  }
  return found
}

function readZone(settings: ZoneFile, key: string, name: string, sources: ZoneSources): Zone {
  const refuse = (field: string, sentence: string) => sources.document.refuse(['zones', key, field], sentence)
  const { primary, nameServers = [primary], ttl, certificate, publish, tsig, nextTsig } = settings
  if (nameServers.length === 0) refuse('nameServers', 'is empty. Omit it if only the primary server counts.')
  if (certificate === 'wildcard' && sources.challenge === 'http-01')
    refuse(
      'certificate',
      'is wildcard, but acme.challenge is http-01. Set acme.challenge to dns-01, the only challenge for wildcard certificates.',
    )
  // With the last two labels, this service counts more names together than an authority does, never fewer.
  const registeredDomain = settings.registeredDomain ?? name.split('.').slice(-2).join('.')
  if (!isInZone(name, registeredDomain)) refuse('registeredDomain', `is neither ${name} nor a domain above it.`)
  if (publish && (publish.cname !== undefined) === publish.a.length + publish.aaaa.length > 0)
    refuse('publish', 'must have either addresses (a, aaaa) or one cname.')
  if (nextTsig && !tsig) refuse('nextTsig', 'is there, but tsig is not. A single key is named tsig.')
  return {
    name,
    primary,
    nameServers,
    ttl,
    publish: publish && publishedRecords(publish),
    certificate,
    registeredDomain,
    tsig: tsig && readKey(tsig, { field: 'tsig', key, zone: name }, sources),
    nextTsig: nextTsig && readKey(nextTsig, { field: 'nextTsig', key, zone: name }, sources),
  }
}

/** Addresses, or one CNAME: a CNAME cannot have other records beside it. */
const publishedRecords = ({ a, aaaa, cname }: NonNullable<ZoneFile['publish']>): readonly PublishedRecord[] =>
  cname === undefined
    ? [
        ...a.map((address) => ({ type: 'A', value: address }) as const),
        ...aaaa.map((address) => ({ type: 'AAAA', value: address }) as const),
      ]
    : [{ type: 'CNAME', value: cname }]

type KeyFile = StaticDecode<ReturnType<typeof keySchema>>

interface KeyPlace {
  readonly field: 'tsig' | 'nextTsig'
  /** The zone as the file writes it. */
  readonly key: string
  readonly zone: string
}

function readKey({ name, algorithm, secretFile }: KeyFile, { field, key, zone }: KeyPlace, sources: SecretSources) {
  const prefix = field === 'tsig' ? 'DRAWBRIDGE_TSIG' : 'DRAWBRIDGE_NEXT_TSIG'
  const secret = requiredSecret(
    {
      place: ['zones', key, field, 'secretFile'],
      file: secretFile,
      variable: `${prefix}_${zone.toUpperCase().replaceAll(/[.-]/g, '_')}`,
      missing: "the path of a file with the key's secret",
      isValid: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
      wrong: 'a value that is not base64',
    },
    sources,
  )
  return { name, algorithm, secret }
}

/** `wildcard`: one certificate for every host of a zone. `host`: one for each. */
type CertificateScope = 'wildcard' | 'host'

/** The names that a new certificate for the host is ordered for. */
const certificateNames = (scope: CertificateScope, zone: string, host: string): readonly string[] =>
  scope === 'wildcard' ? [`*.${zone}`] : [host]
