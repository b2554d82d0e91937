import { describe, expect, test } from 'vitest'
import { secretsOf } from '../../../src/config/secrets.ts'
import { configOf, secretFile } from '../../support/config.ts'

const SECRET = 'Y2FuYXJ5LXRzaWctc2VjcmV0LW9mLTMyLW9jdGV0cw=='
const read = (zone: string, environment = {}) => configOf(`zones:\n  lab-1.test: ${zone}\n`, environment)
const zoneOf = (zone: string, environment = {}) => read(zone, environment).zones.get('lab-1.test')
const withKey = (key: string) => `{ primary: 127.0.0.1, tsig: ${key} }`

describe('name servers', () => {
  test('are the primary alone by default', () => {
    const zone = zoneOf('{ primary: "127.0.0.1:5345" }')
    expect(zone?.nameServers).toEqual([{ address: '127.0.0.1', port: 5345 }])
    expect(zone?.tsig).toBeUndefined()
  })

  test('are those that are listed', () => {
    const zone = zoneOf('{ primary: 127.0.0.1, nameServers: ["127.0.0.1:5345", "::1"] }')
    const places = zone?.nameServers.map(({ address, port }) => `${address} ${port}`)
    expect(places).toEqual(['127.0.0.1 5345', '::1 53'])
  })

  test('may not be none, nor names', () => {
    const withServers = (list: string) => () => zoneOf(`{ primary: 127.0.0.1, nameServers: ${list} }`)
    expect(withServers('[]')).toThrow(/:2: zones\.lab-1\.test\.nameServers is empty/)
    expect(withServers('[ns1.test]')).toThrow(/nameServers\[0\] is not valid/)
  })
})

describe('the key of a zone', () => {
  test('comes from a file that only its owner may read', () => {
    const file = secretFile(`${SECRET}\n`)
    const key = zoneOf(withKey(`{ name: Key_1.test., algorithm: hmac-sha512, secretFile: ${file} }`))?.tsig
    expect(key).toMatchObject({ name: 'key_1.test', algorithm: 'hmac-sha512' })
    expect(key?.secret.reveal()).toBe(SECRET)
  })

  test('or from the environment, under the name of the zone', () => {
    const key = zoneOf(withKey('{ name: drawbridge }'), { DRAWBRIDGE_TSIG_LAB_1_TEST: SECRET })?.tsig
    expect(key).toMatchObject({ name: 'drawbridge', algorithm: 'hmac-sha256' })
    expect(key?.secret.reveal()).toBe(SECRET)
  })

  test('is scrubbed from the log and shows itself nowhere', () => {
    const config = read(withKey('{ name: drawbridge }'), { DRAWBRIDGE_TSIG_LAB_1_TEST: SECRET })
    expect(secretsOf(config).map((secret) => secret.reveal())).toEqual([SECRET])
    expect(JSON.stringify([...config.zones])).not.toContain(SECRET)
  })

  test.each<[string, string, RegExp]>([
    ['without a secret', '{ name: k }', /tsig\.secretFile is missing.*DRAWBRIDGE_TSIG_LAB_1_TEST/],
    ['without a name', `{ secretFile: ${'FILE'} }`, /tsig\.name is missing/],
    ['with another algorithm', '{ name: k, algorithm: hmac-md5, secretFile: FILE }', /hmac-sha256 or hmac-sha512/],
    ['with a name that is none', '{ name: "a b", secretFile: FILE }', /tsig\.name is not valid/],
    ['with a setting that is none', '{ name: k, secretFile: FILE, secret: x }', /tsig\.secret is not a setting/],
    ['in a file that is not there', '{ name: k, secretFile: nowhere }', /ENOENT/],
  ])('is refused %s', (_, key, fault) =>
    expect(() => zoneOf(withKey(key.replace('FILE', secretFile(SECRET))))).toThrow(fault),
  )

  test('is refused where others may read it, or where it is not base64, without being told', () => {
    const inFile = (text: string, mode?: number) => () =>
      zoneOf(withKey(`{ name: k, secretFile: ${secretFile(text, mode)} }`))
    expect(inFile(SECRET, 0o644)).toThrow(/chmod 0600/)
    expect(inFile('canary!')).toThrow(/^(?!.*canary).*not base64/)
  })
})

test('the certificate of a zone is one for each host unless a wildcard is asked for, which http-01 cannot prove', () => {
  const kindOf = (more: string) => zoneOf(`{ primary: 127.0.0.1${more}`)?.certificate
  expect([kindOf(' }'), kindOf(', certificate: wildcard }')]).toEqual(['host', 'wildcard'])
  expect(() => kindOf(', certificate: both }')).toThrow(/Allowed: wildcard or host/)
  expect(() => kindOf(', certificate: wildcard }\nacme: { challenge: http-01 }')).toThrow(
    /:2: zones\.lab-1\.test\.certificate is wildcard, but acme\.challenge is http-01/,
  )
})
