import { readSecretFile, type Secret } from './secret.ts'
import type { Parse, Section } from './section.ts'
import * as value from './values.ts'

/** The certificate authority, how it is asked, and how much may be asked of it. */
export interface AcmeSetting {
  readonly directory: string
  readonly caFile: string | undefined
  readonly caaIdentities: readonly string[]
  readonly challenge: 'dns-01' | 'http-01'
  /** E-mail addresses. */
  readonly contact: readonly string[]
  readonly timeoutSeconds: number
  /** What binds the account at the authority to one that it knows already (RFC 8555 section 7.3.4). */
  readonly externalAccount: { readonly keyId: string; readonly hmacKey: Secret } | undefined
  /** PEM, in place of the key that is made and kept in the state folder. */
  readonly accountKey: Secret | undefined
  readonly limits: Limits
  readonly backoff: { readonly firstSeconds: number; readonly longestSeconds: number }
}

interface Limit {
  readonly count: number
  readonly perSeconds: number
}

interface Limits {
  readonly ordersPerAccount: Limit | undefined
  readonly certificatesPerDomain: Limit | undefined
  readonly certificatesPerNames: Limit | undefined
  readonly failuresPerName: Limit | undefined
  readonly renewalsExempt: boolean
}

const HOUR = 3_600
const WEEK = 7 * 24 * HOUR

/** As Let's Encrypt publishes them; docs/certificates.md says where and when. Its staging limits no domain that could be counted here. */
const PUBLISHED: Readonly<Record<string, Limits>> = {
  letsencrypt: {
    ordersPerAccount: { count: 300, perSeconds: 3 * HOUR },
    certificatesPerDomain: { count: 50, perSeconds: WEEK },
    certificatesPerNames: { count: 5, perSeconds: WEEK },
    failuresPerName: { count: 5, perSeconds: HOUR },
    renewalsExempt: true,
  },
  'letsencrypt-staging': {
    ordersPerAccount: { count: 1_500, perSeconds: 3 * HOUR },
    certificatesPerDomain: undefined,
    certificatesPerNames: { count: 30_000, perSeconds: WEEK },
    failuresPerName: { count: 200, perSeconds: HOUR },
    renewalsExempt: true,
  },
}
const UNLIMITED: Limits = {
  ordersPerAccount: undefined,
  certificatesPerDomain: undefined,
  certificatesPerNames: undefined,
  failuresPerName: undefined,
  renewalsExempt: false,
}

export function readAcme(section: Section, path: Parse<string>): AcmeSetting {
  const directory = section.read(
    'directory',
    value.acmeDirectory('letsencrypt') ?? '',
    value.acmeDirectory,
    'letsencrypt, letsencrypt-staging or an https:// address',
  )
  return {
    directory,
    caFile: section.read('caFile', undefined, path, 'the path of a PEM file'),
    caaIdentities: section.list('caaIdentities', [], value.dnsName, 'names such as letsencrypt.org'),
    challenge: section.read('challenge', 'dns-01', value.oneOf('dns-01', 'http-01'), 'dns-01 or http-01'),
    contact: section.list('contact', [], value.mailAddress, 'e-mail addresses'),
    timeoutSeconds: section.read('timeoutSeconds', 10, value.whole(1, 120), 'whole seconds, 1 to 120'),
    externalAccount: readExternalAccount(section, path),
    accountKey: readSecret(section, 'accountKeyFile', path),
    limits: readLimits(section.section('limits'), directory),
    backoff: readBackoff(section.section('backoff')),
  }
}

function readExternalAccount(acme: Section, path: Parse<string>): AcmeSetting['externalAccount'] {
  const section = acme.section('externalAccount')
  if (!acme.has('externalAccount')) return undefined
  const keyId = section.required('keyId', value.text, '', 'the key identifier that the authority gave')
  if (!section.has('hmacKeyFile'))
    section.refuse('hmacKeyFile', 'is missing: the path of a file with the key that the authority gave, in base64url')
  const hmacKey = readSecret(section, 'hmacKeyFile', path)
  if (hmacKey && !/^[A-Za-z0-9_-]{16,}=*$/.test(hmacKey.reveal()))
    section.refuse('hmacKeyFile', 'names a file that holds no key in base64url')
  return hmacKey && { keyId, hmacKey }
}

function readSecret(section: Section, key: string, path: Parse<string>): Secret | undefined {
  const file = section.read(key, undefined, path, 'the path of a file')
  const secret = file === undefined ? undefined : readSecretFile(file)
  if (typeof secret !== 'string') return secret
  section.refuse(key, secret)
  return undefined
}

function readLimits(section: Section, directory: string): Limits {
  const name = Object.keys(PUBLISHED).find((key) => value.acmeDirectory(key) === directory)
  const published = (name && PUBLISHED[name]) || UNLIMITED
  const limit = (key: Exclude<keyof Limits, 'renewalsExempt'>): Limit | undefined => {
    const read = section.read(key, published[key] ?? 'none', limitOrNone, 'such as 50 per 7d, or none')
    return read === 'none' ? undefined : read
  }
  return {
    ordersPerAccount: limit('ordersPerAccount'),
    certificatesPerDomain: limit('certificatesPerDomain'),
    certificatesPerNames: limit('certificatesPerNames'),
    failuresPerName: limit('failuresPerName'),
    renewalsExempt: section.read('renewalsExempt', published.renewalsExempt, value.truth, 'true or false'),
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: HOUR, d: 24 * HOUR }

const limitOrNone: Parse<Limit | 'none'> = (given) => {
  if (given === 'none') return 'none'
  const [, count, amount, unit = ''] = /^([1-9]\d{0,5}) per ([1-9]\d{0,5})([smhd])$/.exec(String(given)) ?? []
  const perSeconds = Number(amount) * (UNITS[unit] ?? 0)
  return perSeconds > 0 && perSeconds <= 30 * 24 * HOUR ? { count: Number(count), perSeconds } : undefined
}

function readBackoff(section: Section): AcmeSetting['backoff'] {
  const seconds = value.whole(1, 86_400)
  const backoff = {
    firstSeconds: section.read('firstSeconds', 5, seconds, 'whole seconds, 1 to 86400'),
    longestSeconds: section.read('longestSeconds', 21_600, seconds, 'whole seconds, 1 to 86400'),
  }
  if (backoff.longestSeconds < backoff.firstSeconds) section.refuse('longestSeconds', 'is shorter than firstSeconds')
  return backoff
}
