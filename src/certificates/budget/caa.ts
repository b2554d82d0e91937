import type { CaaProperty } from '../../dns/contract.ts'
import { escapeText, quoteText } from '../../model/escape-text.ts'
import type { ChallengeResponder } from '../contract.ts'

type ChallengeType = ChallengeResponder['type']

/** Whether the CA may issue for a host. `unknown`: the records name CAs, and the name of our CA is not known. */
export interface CaaVerdict {
  readonly verdict: 'allowed' | 'forbidden' | 'unknown'
  /** A clause that continues "the CAA records of <owner>". */
  readonly because: string
  /** The first record that does not allow the CA. */
  readonly record?: CaaProperty | undefined
}

export interface CaaQuestion {
  /** The names of the CA in CAA records. */
  readonly identities: readonly string[]
  readonly challenge: ChallengeType
  readonly wildcard: boolean
}

/** The tags of RFC 8659. Any other property that is marked critical forbids issuance by every CA. */
const UNDERSTOOD_TAGS = new Set(['issue', 'issuewild', 'iodef'])

/**
 * RFC 8659: `properties` is the nearest non-empty set of the name or its parents. For a wildcard `issuewild` decides if there
 * is any, for every other name only `issue`. A record bound to an account (RFC 8657 `accounturi`) counts as allowed: no
 * account exists before the first issuance, so a refusal would never end.
 */
export function evaluateCaa(properties: readonly CaaProperty[], question: CaaQuestion): CaaVerdict {
  const { identities, challenge, wildcard } = question
  const unknownCritical = properties.find(({ critical, tag }) => critical && !UNDERSTOOD_TAGS.has(tag))
  if (unknownCritical) return forbidden(`have the unknown critical property ${text(unknownCritical)}`, unknownCritical)
  const deciding = decidingSet(properties, wildcard)
  if (deciding.length === 0) return { verdict: 'allowed', because: 'restrict no certificate authority' }

  const [first] = deciding
  const grants = deciding.flatMap((property) => parseGrant(property.value) ?? [])
  const records = deciding.map(text).join(', ')
  if (grants.every(({ issuer }) => issuer === '')) return forbidden(`allow no certificate authority: ${records}`, first)
  if (identities.length === 0) return { verdict: 'unknown', because: `name certificate authorities: ${records}` }

  const ours = new Set(identities.map((identity) => identity.toLowerCase().replace(/\.$/, '')))
  const forUs = grants.filter(({ issuer }) => ours.has(issuer))
  if (forUs.length === 0) return forbidden(`allow only other certificate authorities: ${records}`, first)
  const usable = forUs.filter((grant) => allowsChallenge(grant, challenge))
  if (usable.length === 0) return forbidden(`do not allow ${challenge}: ${records}`, first)
  const free = usable.find(({ parameters }) => !parameters.has('accounturi'))
  if (free) return { verdict: 'allowed', because: `allow ${free.issuer}` }
  return { verdict: 'allowed', because: `allow ${usable[0]?.issuer}, but only for one account` }
}

function decidingSet(properties: readonly CaaProperty[], wildcard: boolean): readonly CaaProperty[] {
  const tagged = (wanted: string) => properties.filter(({ tag }) => tag === wanted)
  const wild = wildcard ? tagged('issuewild') : []
  return wild.length > 0 ? wild : tagged('issue')
}

const forbidden = (because: string, record: CaaProperty | undefined): CaaVerdict => ({
  verdict: 'forbidden',
  because,
  record,
})

interface Grant {
  /** Empty when the record allows no CA. */
  readonly issuer: string
  readonly parameters: ReadonlyMap<string, string>
}

const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?'
const ISSUER = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*)?$`)
const PARAMETER = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)[ \t]*=[ \t]*([\x21-\x3a\x3c-\x7e]*)$/i

/** The `issue-value` of RFC 8659 section 4.2; undefined when malformed. A malformed value allows no CA. */
function parseGrant(value: string): Grant | undefined {
  const [issuer = '', ...rest] = value.split(';').map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''))
  if (!ISSUER.test(issuer.toLowerCase())) return undefined
  const parameters = new Map<string, string>()
  for (const parameter of rest.at(-1) === '' ? rest.slice(0, -1) : rest) {
    const [, tag, text] = PARAMETER.exec(parameter) ?? []
    if (tag === undefined || text === undefined) return undefined
    parameters.set(tag.toLowerCase(), text)
  }
  return { issuer: issuer.toLowerCase(), parameters }
}

function allowsChallenge({ parameters }: Grant, challenge: ChallengeType): boolean {
  const methods = parameters.get('validationmethods')
  return methods === undefined || methods.toLowerCase().split(',').includes(challenge)
}

/** In zone file format, escaped: the value is text from the zone. */
const text = ({ tag, value }: CaaProperty): string => `${escapeText(tag)} ${quoteText(value.slice(0, 200))}`
