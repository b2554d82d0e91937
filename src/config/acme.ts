import { type StaticDecode, Type } from 'typebox'
import type { ConfigDocument } from './document.ts'
import { readSecretFile, type Secret } from './secret.ts'
import * as value from './values.ts'

/** The certificate authority, the account, and the limits of orders. */
export interface AcmeSetting {
  readonly directory: string
  readonly caFile: string | undefined
  readonly caaIdentities: readonly string[]
  readonly challenge: 'dns-01' | 'http-01'
  /** E-mail addresses. */
  readonly contact: readonly string[]
  readonly timeoutSeconds: number
  /** Binds the ACME account to an existing account of the authority (RFC 8555 section 7.3.4). */
  readonly externalAccount: { readonly keyId: string; readonly hmacKey: Secret } | undefined
  /** The account key in PEM. Undefined: the service creates a key in the state folder. */
  readonly accountKey: Secret | undefined
  readonly limits: Limits
  readonly backoff: { readonly firstSeconds: number; readonly longestSeconds: number }
}

type Limit = { readonly count: number; readonly perSeconds: number }

interface Limits {
  readonly ordersPerAccount: Limit | undefined
  readonly certificatesPerDomain: Limit | undefined
  readonly certificatesPerNames: Limit | undefined
  readonly failuresPerName: Limit | undefined
  readonly renewalsExempt: boolean
}

const HOUR = 3_600
const WEEK = 7 * 24 * HOUR

/** The authorities that have a name. */
export const DIRECTORIES: Readonly<Record<string, string>> = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
}

/** The limits that Let's Encrypt publishes; docs/certificates.md has source and date. Staging has no limit per domain. */
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

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: HOUR, d: 24 * HOUR }

const limit = Type.Optional(
  value.parsed(
    (given): Limit | 'none' | undefined => {
      if (given === 'none') return 'none'
      const [, count, amount, unit = ''] = /^([1-9]\d{0,5}) per ([1-9]\d{0,5})([smhd])$/.exec(given) ?? []
      const perSeconds = Number(amount) * (UNITS[unit] ?? 0)
      return perSeconds > 0 && perSeconds <= 30 * 24 * HOUR ? { count: Number(count), perSeconds } : undefined
    },
    { allowed: 'such as 50 per 7d, or none' },
  ),
)

const acmeDirectory = value.parsed(
  (given) => DIRECTORIES[given] ?? (URL.canParse(given) && given.startsWith('https://') ? given : undefined),
  { allowed: 'letsencrypt, letsencrypt-staging or an https:// address', default: 'letsencrypt' },
)

/** One plain address. An ACME server accepts no header fields and no comma in it. */
const mailAddress = value.parsed((given) => (/^[\w.+-]{1,64}@[a-z0-9.-]{1,253}$/i.test(given) ? given : undefined), {
  allowed: 'e-mail addresses',
})

export const acmeSchema = (folder: string) =>
  Type.Object({
    directory: acmeDirectory,
    caFile: Type.Optional(value.path(folder, 'the path of a PEM file')),
    caaIdentities: Type.Array(value.dnsName('names such as letsencrypt.org'), { default: [] }),
    challenge: value.oneOf(['dns-01', 'http-01'], 'dns-01'),
    contact: Type.Array(mailAddress, { default: [] }),
    timeoutSeconds: value.seconds(1, 120, 10),
    externalAccount: Type.Optional(
      Type.Object({
        keyId: value.text('the key identifier that the authority gave'),
        hmacKeyFile: value.path(folder, 'the path of a file with the key that the authority gave, in base64url'),
      }),
    ),
    accountKeyFile: Type.Optional(value.path(folder, 'the path of a file')),
    limits: Type.Object({
      ordersPerAccount: limit,
      certificatesPerDomain: limit,
      certificatesPerNames: limit,
      failuresPerName: limit,
      renewalsExempt: Type.Optional(value.truth()),
    }),
    backoff: Type.Object({
      firstSeconds: value.seconds(1, 86_400, 5),
      longestSeconds: value.seconds(1, 86_400, 21_600),
    }),
  })

type AcmeFile = StaticDecode<ReturnType<typeof acmeSchema>>

export function readAcme(
  { externalAccount, accountKeyFile, ...settings }: AcmeFile,
  document: ConfigDocument,
): AcmeSetting {
  const { directory, limits, backoff } = settings
  if (backoff.longestSeconds < backoff.firstSeconds)
    document.refuse(
      ['acme', 'backoff', 'longestSeconds'],
      'is shorter than firstSeconds. Set it to at least firstSeconds.',
    )
  return {
    ...settings,
    caFile: settings.caFile,
    externalAccount: externalAccount && readExternalAccount(externalAccount, document),
    accountKey:
      accountKeyFile === undefined ? undefined : readSecretFile(accountKeyFile, ['acme', 'accountKeyFile'], document),
    limits: limitsFor(directory, limits),
  }
}

function readExternalAccount(
  { keyId, hmacKeyFile }: NonNullable<AcmeFile['externalAccount']>,
  document: ConfigDocument,
): AcmeSetting['externalAccount'] {
  const place = ['acme', 'externalAccount', 'hmacKeyFile']
  const hmacKey = readSecretFile(hmacKeyFile, place, document)
  if (hmacKey && !/^[A-Za-z0-9_-]{16,}=*$/.test(hmacKey.reveal()))
    document.refuse(
      place,
      'names a file without a key in base64url. Store the key that the authority gave in this file.',
    )
  return hmacKey && { keyId, hmacKey }
}

/** The limits of the file. A missing limit is the one that the authority publishes. */
function limitsFor(directory: string, { renewalsExempt, ...own }: AcmeFile['limits']): Limits {
  const name = Object.keys(DIRECTORIES).find((key) => DIRECTORIES[key] === directory)
  const published = (name && PUBLISHED[name]) || UNLIMITED
  const limitOf = (key: Exclude<keyof Limits, 'renewalsExempt'>): Limit | undefined => {
    const chosen = own[key] ?? published[key]
    return chosen === 'none' ? undefined : chosen
  }
  return {
    ordersPerAccount: limitOf('ordersPerAccount'),
    certificatesPerDomain: limitOf('certificatesPerDomain'),
    certificatesPerNames: limitOf('certificatesPerNames'),
    failuresPerName: limitOf('failuresPerName'),
    renewalsExempt: renewalsExempt ?? published.renewalsExempt,
  }
}
