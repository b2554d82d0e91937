import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { formatEndpoint, parseEndpoint } from '../../model/address.ts'
import { parseName } from '../../model/dns-name.ts'
import { type EntryOptions, isNote, isOwner, isPlanId, LONGEST_NOTE, LONGEST_OWNER } from '../../model/exposure.ts'
import { MOST_BACKENDS } from '../../model/options/grammar.ts'
import { areCanonical } from '../../model/options/read-options.ts'

/** Every object is closed: a member that is not listed is an error. */
const CLOSED = { additionalProperties: false }

const Target = Type.Object(
  {
    scheme: Type.Unsafe<'http' | 'https'>({ type: 'string', enum: ['http', 'https'] }),
    /** The id of the server in the registry of the service. Undefined in records of earlier versions. */
    server: Type.Optional(Type.String({ maxLength: 32 })),
    address: Type.String({ maxLength: 45 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  },
  CLOSED,
)

const Hex32 = Type.String({ pattern: '^[0-9a-f]{32}$' })

/** The id of a certificate with its key on an edge. */
export const CertificateId = Hex32

/** Of the owner mark in DNS. */
const EXPOSURE_ID_GRAMMAR = '^(?:exposure|plan)_[0-9a-z]{26,64}$'

/**
 * The record of one host: everything that a run sends and an edge keeps. No member holds a path, a file name or text of a proxy's
 * language. The same on the wire, on disk and in receipts.
 */
export const EntryShape = Type.Object(
  {
    host: Type.String({ maxLength: 253 }),
    /** The random id in the owner mark. Undefined in records of earlier versions. */
    exposure: Type.Optional(Type.String({ pattern: EXPOSURE_ID_GRAMMAR })),
    plan: Type.String({ maxLength: 69 }),
    /** The first one serves. The others take over in this order when it fails. */
    targets: Type.Array(Target, { minItems: 1, maxItems: MOST_BACKENDS + 1 }),
    /** Null: the host is served without TLS. */
    certificate: Type.Union([CertificateId, Type.Null()]),
    options: Type.Optional(Type.Unsafe<EntryOptions>({ type: 'object' })),
    /** Question and answer by which only this entry proves its identity. Secret. */
    proof: Type.Object({ question: Hex32, answer: Hex32 }, CLOSED),
    /** The following members are for rebuilding a store. They do not affect what is served. */
    health: Type.Optional(Type.String({ pattern: '^/[\\x21-\\x7e]{0,2047}$' })),
    owner: Type.Optional(Type.String({ maxLength: LONGEST_OWNER })),
    note: Type.Optional(Type.String({ maxLength: LONGEST_NOTE })),
  },
  CLOSED,
)

type Mutable = Static<typeof EntryShape>
export type EntryTarget = Readonly<Mutable['targets'][number]>
export type Entry = Readonly<Omit<Mutable, 'targets' | 'proof'>> & {
  readonly targets: readonly [EntryTarget, ...EntryTarget[]]
  readonly proof: Readonly<Mutable['proof']>
}

/** A file name has at most 255 bytes, including its extension. */
const LONGEST_HOST = 250

export const isHost = (host: string): boolean => parseName(host) === host && host.length <= LONGEST_HOST

const shape = Compile(EntryShape)

/** What is wrong with a record, as the end of a sentence. Undefined: every member matches its grammar. */
export function entryFault(given: unknown): string | undefined {
  if (!shape.Check(given)) return 'It does not have the form of an entry'
  const { host, plan, targets, options, owner, note } = given
  if (!isHost(host)) return 'Its host is not a host name'
  if (!isPlanId(plan)) return 'Its plan is not the id of a plan'
  if (options !== undefined && (!areCanonical(options) || 'backends' in options))
    return 'Its options do not match their grammar'
  const scheme = options?.backendTls ? 'https' : 'http'
  const other = targets.find((target) => target.scheme !== scheme || !isCanonical(target))
  if (other) return `A target is not ${scheme} with an IP address and a port`
  if (owner !== undefined && !isOwner(owner)) return 'Its owner does not match the grammar'
  if (note !== undefined && !isNote(note)) return 'Its note does not match the grammar'
  return undefined
}

const isCanonical = ({ address, port }: EntryTarget): boolean => {
  const endpoint = formatEndpoint({ address, port })
  const parsed = parseEndpoint(endpoint, 0)
  return parsed !== undefined && parsed.address === address && formatEndpoint(parsed) === endpoint
}

/** The entry with its members in one order, so that equal entries have equal text. Throws if `entryFault` refuses it. */
export function canonicalEntry(given: unknown): Entry {
  const fault = entryFault(given)
  if (fault !== undefined) throw new Error(`${fault}.`)
  const { host, exposure, plan, targets, certificate, options, proof, health, owner, note } = given as Entry
  const [first, ...further] = targets.map(({ scheme, server, address, port }) => ({
    scheme,
    ...(server !== undefined && { server }),
    ...{ address, port },
  }))
  if (!first) throw new Error('An entry has a target.')
  return {
    host,
    ...(exposure !== undefined && { exposure }),
    plan,
    targets: [first, ...further],
    certificate,
    ...(options !== undefined && { options }),
    proof: { question: proof.question, answer: proof.answer },
    ...(health !== undefined && { health }),
    ...(owner !== undefined && { owner }),
    ...(note !== undefined && { note }),
  }
}

export const targetUrl = ({ scheme, address, port }: EntryTarget): string =>
  `${scheme}://${formatEndpoint({ address, port })}`

/** Whether both are the same record. */
export const areEqual = (one: Entry, other: Entry): boolean => one === other || textOf(one) === textOf(other)

/** Whether both are served alike. Ignores members that only a rebuild needs. */
export const areServedAlike = (one: Entry, other: Entry): boolean => textOf(served(one)) === textOf(served(other))

const served = ({ exposure: _, health: _h, owner: _o, note: _n, ...rest }: Entry): Entry => rest

const textOf = (entry: Entry): string => JSON.stringify(canonicalEntry(entry))

/** An opaque tag of a record and its text. */
export const revisionOf = (entry: Entry | undefined, text: string): string =>
  createHash('sha256')
    .update(`${entry ? textOf(entry) : ''}\n${text}`)
    .digest('hex')
    .slice(0, 32)

const FINGERPRINT = /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/

/** The id of a certificate: half of its SHA-256 fingerprint, which is still unique, and short enough for nginx's hash tables. */
export function certificateId(fingerprint: string): string {
  if (!FINGERPRINT.test(fingerprint))
    throw new Error('The fingerprint of a certificate must be a SHA-256 hash in upper-case hex with colons.')
  return fingerprint.replaceAll(':', '').slice(0, 32).toLowerCase()
}
