import { describe, expect, test } from 'vitest'
import { secretsOf } from '../../../src/config/secrets.ts'
import { configOf, secretFile } from '../../support/config.ts'

const ZONES = 'zones: { apps.example.test: { primary: 192.168.45.253 } }\n'
const read = (acme: string) => configOf(`${ZONES}acme: ${acme}\n`)
const limitsOf = (acme: string) => read(acme).acme.limits

describe('limits', () => {
  test("are Let's Encrypt's own for its directories", () => {
    expect(limitsOf('{ directory: letsencrypt }')).toEqual({
      ...{ ordersPerAccount: { count: 300, perSeconds: 10_800 }, failuresPerName: { count: 5, perSeconds: 3_600 } },
      certificatesPerDomain: { count: 50, perSeconds: 604_800 },
      certificatesPerNames: { count: 5, perSeconds: 604_800 },
      renewalsExempt: true,
    })
    const byAddress = limitsOf('{ directory: "https://acme-staging-v02.api.letsencrypt.org/directory" }')
    expect(byAddress.ordersPerAccount).toEqual({ count: 1_500, perSeconds: 10_800 })
    expect(byAddress.failuresPerName).toEqual({ count: 200, perSeconds: 3_600 })
  })

  test('are none for another directory, unless they are configured', () => {
    const nothing = { ordersPerAccount: undefined, certificatesPerDomain: undefined, renewalsExempt: false }
    expect(limitsOf('{ directory: "https://ca.test/dir" }')).toMatchObject(nothing)
    const configured = '{ certificatesPerDomain: 20 per 7d, renewalsExempt: true }'
    const some = { certificatesPerDomain: { count: 20, perSeconds: 604_800 }, renewalsExempt: true }
    expect(limitsOf(`{ directory: "https://ca.test/dir", limits: ${configured} }`)).toMatchObject({
      ...nothing,
      ...some,
    })
    expect(limitsOf('{ limits: { failuresPerName: none } }').failuresPerName).toBeUndefined()
  })

  test.each(['50', '0 per 7d', '50 per 7w', '5 per 31d', '50 per  7d', '[5]'])('cannot be %s', (limit) =>
    expect(() => configOf(`${ZONES}acme:\n  limits:\n    certificatesPerNames: ${limit}\n`)).toThrow(
      'drawbridge.yaml:4: acme.limits.certificatesPerNames is not valid. Allowed: such as 50 per 7d, or none.',
    ),
  )
})

test.each([
  ['acme: { timeoutSeconds: 0 }', 'acme.timeoutSeconds is not valid'],
  ['acme: { backoff: { firstSeconds: 60, longestSeconds: 5 } }', 'longestSeconds is shorter than firstSeconds'],
  ['acme: { externalAccount: { keyId: kid-1 } }', 'acme.externalAccount.hmacKeyFile is missing'],
  ['acme: { accountKeyFile: nowhere }', 'accountKeyFile names /etc/drawbridge/nowhere, which cannot be read (ENOENT).'],
])('%s is refused', (setting, sentence) => expect(() => configOf(`${ZONES}${setting}\n`)).toThrow(sentence))

test('the account has its secrets in files, shows them nowhere and keeps them out of the log', () => {
  const hmacKeyFile = secretFile('canary_hmac_key_in_base64url\n')
  const accountKeyFile = secretFile('canary-account-key\n')
  const externalAccount = `{ keyId: kid-1, hmacKeyFile: ${hmacKeyFile} }`
  const config = read(`{ externalAccount: ${externalAccount}, accountKeyFile: ${accountKeyFile} }`)
  expect(config.acme.externalAccount).toMatchObject({ keyId: 'kid-1' })
  expect(config.acme.externalAccount?.hmacKey.reveal()).toBe('canary_hmac_key_in_base64url')
  expect(config.acme.accountKey?.reveal()).toBe('canary-account-key')
  expect(JSON.stringify({ ...config, zones: [] })).not.toContain('canary')
  const secrets = secretsOf(config).map((secret) => secret.reveal())
  expect(secrets).toEqual(['canary_hmac_key_in_base64url', 'canary-account-key'])
})

test('the account is refused when others may read a file, or a key is none', () => {
  const open = secretFile('canary_hmac_key_in_base64url', 0o644)
  expect(() => read(`{ accountKeyFile: ${open} }`)).toThrow('chmod 0600')
  const junk = secretFile('canary key')
  expect(() => read(`{ externalAccount: { keyId: a, hmacKeyFile: ${junk} } }`)).toThrow(
    /^(?!.*canary).*acme\.externalAccount\.hmacKeyFile names a file without a key in base64url/,
  )
})

const of = (more: string) => {
  const { zones } = configOf(`zones: { apps.example.co.test: { primary: 192.0.2.9${more} } }`)
  return zones.get('apps.example.co.test')?.registeredDomain
}

test('the registered domain of a zone is its last two labels, or what is configured', () => {
  expect(of('')).toBe('co.test')
  expect(of(', registeredDomain: Example.co.test')).toBe('example.co.test')
})

test('the registered domain of a zone must have the zone in it', () =>
  expect(() => of(', registeredDomain: other.test')).toThrow(/registeredDomain is neither apps\.example\.co\.test nor/))
