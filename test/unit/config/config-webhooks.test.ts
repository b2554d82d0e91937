import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { secretsOf } from '../../../src/config/secrets.ts'
import { configOf, secretFile } from '../../support/config.ts'

const SECRET = `whsec_${randomBytes(32).toString('base64')}`
const URL = 'https://chat.example.test/hooks/canary-path'
const ZONES = 'zones: { lab.test: { primary: 127.0.0.1 } }\n'
const FROM_ENVIRONMENT = { DRAWBRIDGE_WEBHOOK_MY_CHAT: SECRET }
const read = (hook: string, environment: Record<string, string> = FROM_ENVIRONMENT, name = 'my-chat') =>
  configOf(`${ZONES}webhooks:\n  ${name}: ${hook}\n`, environment)

test('none is told by default', () => expect(configOf(ZONES).webhooks).toEqual([]))

test('a webhook has its address, its secret, and everything unless something is chosen', () => {
  const [hook] = read(`{ url: "${URL}" }`).webhooks
  expect(hook).toMatchObject({ name: 'my-chat', events: undefined, hosts: undefined, tries: 30, timeoutSeconds: 10 })
  expect([hook?.url.reveal(), hook?.secret.reveal()]).toEqual([URL, SECRET])
  const choice = 'events: [exposure.blocked], hosts: [Shop.Lab.Test], tries: 2, timeoutSeconds: 1'
  const [chosen] = read(`{ url: "${URL}", ${choice} }`).webhooks
  expect(chosen).toMatchObject({ events: ['exposure.blocked'], hosts: ['shop.lab.test'], tries: 2 })
})

test('its secret may be in a file that only its owner may read', () => {
  const inFile = (mode: number) => read(`{ url: "${URL}", secretFile: ${secretFile(`${SECRET}\n`, mode)} }`, {})
  expect(inFile(0o600).webhooks[0]?.secret.reveal()).toBe(SECRET)
  expect(() => inFile(0o644)).toThrow(/:3: webhooks\.my-chat\.secretFile names .* 0600/)
})

test('neither its secret nor its address shows itself', () => {
  const config = read(`{ url: "${URL}" }`)
  expect(secretsOf(config).map((secret) => secret.reveal())).toEqual([URL, SECRET])
  expect(JSON.stringify(config.webhooks)).not.toMatch(/canary-path|whsec_/)
})

test.each([
  ['{}', /:3: webhooks\.my-chat\.url is missing/],
  ['{ url: "ftp://chat.example.test/" }', /webhooks\.my-chat\.url is not valid\. Allowed: an http/],
  ['{ url: "https://user:password@chat.example.test/" }', /url is not valid/],
  [`{ url: "${URL}", events: [weather.changed] }`, /events\[0\] is not valid\. Allowed: plan\.refused/],
  [`{ url: "${URL}", hosts: ["*"] }`, /hosts\[0\] is not valid/],
  [`{ url: "${URL}", tries: 0 }`, /tries is not valid/],
  [`{ url: "${URL}", colour: red }`, /colour is not a setting/],
])('%s is refused by name', (hook, fault) => expect(() => read(hook)).toThrow(fault))

test('a secret that is missing, short or in no base64 is refused, and a strange name', () => {
  const hook = `{ url: "${URL}" }`
  expect(() => read(hook, {})).toThrow(/secretFile is missing\. .* DRAWBRIDGE_WEBHOOK_MY_CHAT/)
  for (const secret of ['whsec_c2hvcnQ=', 'whsec_***', randomBytes(32).toString('base64')])
    expect(() => read(hook, { DRAWBRIDGE_WEBHOOK_MY_CHAT: secret })).toThrow(/not whsec_ with 24 to 64 bytes/)
  expect(() => read(hook, {}, '"My Chat"')).toThrow(/webhooks\.My Chat is not valid/)
})
