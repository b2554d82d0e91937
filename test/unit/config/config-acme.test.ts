import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { secretsOf } from '../../../src/config/secrets.ts'

const ZONES = 'zones: { apps.example.test: { primary: 192.168.45.253 } }\n'
const read = (acme: string) => readConfig(`${ZONES}acme: ${acme}\n`, '/etc/drawbridge/drawbridge.yaml', {})

function faultOf(text: string): string {
  try {
    readConfig(text, '/etc/drawbridge/drawbridge.yaml', {})
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

function secretFile(text: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'secret'), text, { mode })
  return join(folder, 'secret')
}

describe('limits', () => {
  test("are Let's Encrypt's own for its directories", () => {
    expect(read('{ directory: letsencrypt }').acme.limits).toEqual({
      ordersPerAccount: { count: 300, perSeconds: 10_800 },
      certificatesPerDomain: { count: 50, perSeconds: 604_800 },
      certificatesPerNames: { count: 5, perSeconds: 604_800 },
      failuresPerName: { count: 5, perSeconds: 3_600 },
      renewalsExempt: true,
    })
    const byAddress = '{ directory: "https://acme-staging-v02.api.letsencrypt.org/directory" }'
    expect(read(byAddress).acme.limits).toMatchObject({
      ordersPerAccount: { count: 1_500, perSeconds: 10_800 },
      failuresPerName: { count: 200, perSeconds: 3_600 },
    })
  })

  test('are none for another directory, unless they are configured', () => {
    const nothing = { ordersPerAccount: undefined, certificatesPerDomain: undefined, renewalsExempt: false }
    expect(read('{ directory: "https://ca.test/dir" }').acme.limits).toMatchObject(nothing)
    const some =
      '{ directory: "https://ca.test/dir", limits: { certificatesPerDomain: 20 per 7d, renewalsExempt: true } }'
    expect(read(some).acme.limits).toMatchObject({
      certificatesPerDomain: { count: 20, perSeconds: 604_800 },
      ordersPerAccount: undefined,
      renewalsExempt: true,
    })
    expect(read('{ limits: { failuresPerName: none } }').acme.limits.failuresPerName).toBeUndefined()
  })

  test.each(['50', '0 per 7d', '50 per 7w', '5 per 31d', '50 per  7d', '[5]'])('cannot be %s', (limit) =>
    expect(faultOf(`${ZONES}acme:\n  limits:\n    certificatesPerNames: ${limit}\n`)).toContain(
      'drawbridge.yaml:4: acme.limits.certificatesPerNames is not valid. Allowed: such as 50 per 7d, or none.',
    ),
  )
})

test.each([
  ['acme: { timeoutSeconds: 0 }', 'acme.timeoutSeconds is not valid'],
  ['acme: { backoff: { firstSeconds: 60, longestSeconds: 5 } }', 'longestSeconds is shorter than firstSeconds'],
  ['acme: { externalAccount: { keyId: kid-1 } }', 'acme.externalAccount.hmacKeyFile is missing'],
  ['acme: { accountKeyFile: nowhere }', 'accountKeyFile names /etc/drawbridge/nowhere, which cannot be read (ENOENT).'],
])('%s is refused', (setting, sentence) => expect(faultOf(`${ZONES}${setting}\n`)).toContain(sentence))

test('the account has its secrets in files, shows them nowhere and keeps them out of the log', () => {
  const hmacKeyFile = secretFile('canary_hmac_key_in_base64url\n')
  const accountKeyFile = secretFile('canary-account-key\n')
  const config = read(
    `{ externalAccount: { keyId: kid-1, hmacKeyFile: ${hmacKeyFile} }, accountKeyFile: ${accountKeyFile} }`,
  )
  expect(config.acme.externalAccount).toMatchObject({ keyId: 'kid-1' })
  expect(config.acme.externalAccount?.hmacKey.reveal()).toBe('canary_hmac_key_in_base64url')
  expect(config.acme.accountKey?.reveal()).toBe('canary-account-key')
  expect(JSON.stringify({ ...config, zones: [] })).not.toContain('canary')
  const secrets = secretsOf(config).map((secret) => secret.reveal())
  expect(secrets).toEqual(['canary_hmac_key_in_base64url', 'canary-account-key'])
})

test('the account is refused when others may read a file, or a key is none', () => {
  const open = secretFile('canary_hmac_key_in_base64url', 0o644)
  expect(faultOf(`${ZONES}acme: { accountKeyFile: ${open} }`)).toContain('chmod 0600')
  const junk = secretFile('canary key')
  const fault = faultOf(`${ZONES}acme: { externalAccount: { keyId: a, hmacKeyFile: ${junk} } }`)
  expect(fault).toContain('acme.externalAccount.hmacKeyFile names a file without a key in base64url')
  expect(fault).not.toContain('canary')
})

const of = (more: string) =>
  readConfig(`zones: { apps.example.co.test: { primary: 192.0.2.9${more} } }`, '/etc/d.yaml', {}).zones.get(
    'apps.example.co.test',
  )?.registeredDomain

test('the registered domain of a zone is its last two labels, or what is configured', () => {
  expect(of('')).toBe('co.test')
  expect(of(', registeredDomain: Example.co.test')).toBe('example.co.test')
})

test('the registered domain of a zone must have the zone in it', () =>
  expect(() => of(', registeredDomain: other.test')).toThrow(/registeredDomain is neither apps\.example\.co\.test nor/))
