import type { CaaProperty } from '../../dns/contract.ts'
import { escapeText, quoteText } from '../../model/escape-text.ts'
import type { ChallengeResponder } from '../contract.ts'

type ChallengeType = ChallengeResponder['type']

/** Whether a CA may issue for a host: `unknown` when the records name CAs and it is not known by which name ours goes. */
export interface CaaVerdict {
  readonly verdict: 'allowed' | 'forbidden' | 'unknown'
  /** Why, as a clause that goes on from "the CAA records of <owner>". */
  readonly because: string
  /** The record that forbids: where several do not allow it, the first. */
  readonly record?: CaaProperty | undefined
}

/** What is to be issued: to whom, how it is proven, and whether the name is a wildcard. */
export interface CaaQuestion {
  /** The names by which records call the authority. */
  readonly identities: readonly string[]
  readonly challenge: ChallengeType
  readonly wildcard: boolean
}

/** RFC 8659 names these; any other property that is marked critical stops every CA. */
const UNDERSTOOD_TAGS = new Set(['issue', 'issuewild', 'iodef'])

/**
 * RFC 8659: `properties` is the first non-empty set on the way up from the name. Of a wildcard `issuewild` decides where
 * there is any, of every other name only `issue`. A record bound to an account (RFC 8657 `accounturi`) counts as
 * allowing: no account exists before the first issuance, so refusing here would refuse for ever.
 */
export function evaluateCaa(properties: readonly CaaProperty[], question: CaaQuestion): CaaVerdict {
  const { identities, challenge, wildcard } = question
  const strange = properties.find(({ critical, tag }) => critical && !UNDERSTOOD_TAGS.has(tag))
  if (strange) return forbidden(`have the unknown critical property ${text(strange)}`, strange)
  const deciding = decidingSet(properties, wildcard)
  if (deciding.length === 0) return { verdict: 'allowed', because: 'restrict no certificate authority' }

  const [first] = deciding
  const grants = deciding.flatMap((property) => parseGrant(property.value) ?? [])
  const records = deciding.map(text).join(', ')
  if (grants.every(({ issuer }) => issuer === '')) return forbidden(`allow nobody: ${records}`, first)
  if (identities.length === 0) return { verdict: 'unknown', because: `name certificate authorities: ${records}` }

  const ours = new Set(identities.map((identity) => identity.toLowerCase().replace(/\.$/, '')))
  const forUs = grants.filter(({ issuer }) => ours.has(issuer))
  if (forUs.length === 0) return forbidden(`allow only others: ${records}`, first)
  const usable = forUs.filter((grant) => allowsChallenge(grant, challenge))
  if (usable.length === 0) return forbidden(`do not allow ${challenge}: ${records}`, first)
  const free = usable.find(({ parameters }) => !parameters.has('accounturi'))
  if (free) return { verdict: 'allowed', because: `allow ${free.issuer}` }
  return { verdict: 'allowed', because: `allow ${usable[0]?.issuer}, but only to the account named there` }
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
  /** Empty: nobody. */
  readonly issuer: string
  readonly parameters: ReadonlyMap<string, string>
}

const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?'
const ISSUER = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*)?$`)
const PARAMETER = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)[ \t]*=[ \t]*([\x21-\x3a\x3c-\x7e]*)$/i

/** The `issue-value` of RFC 8659 section 4.2; undefined when malformed, which authorizes nobody. */
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

/** As a zone file has it, safe to show: the value comes from whoever writes the zone. */
const text = ({ tag, value }: CaaProperty): string => `${escapeText(tag)} ${quoteText(value.slice(0, 200))}`
