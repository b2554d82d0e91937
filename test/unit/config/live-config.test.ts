import { expect, test } from 'vitest'
import { LiveConfig } from '../../../src/config/live.ts'
import { CONFIG_FILE, configOf } from '../../support/config.ts'

const ZONE = 'primary: 192.168.45.253, tsig: { name: drawbridge }'
const read = (text: string, secret = 'c2VjcmV0') =>
  configOf(text, { DRAWBRIDGE_TSIG_EXAMPLE_TEST: secret, DRAWBRIDGE_NEXT_TSIG_EXAMPLE_TEST: 'bmV4dA==' })
const first = read(`zones: { example.test: { ${ZONE} } }`)

test('reloaded settings are in force at once, all others after a restart', () => {
  const live = new LiveConfig(first)
  const settings = 'internalNetworks: [10.0.0.0/8]\nlisten: { port: 9000 }\n'
  const changes = live.replace(read(`zones: { example.test: { ${ZONE}, ttl: 30 } }\n${settings}`))
  expect(changes).toEqual({ changed: ['internalNetworks', 'zones'], needRestart: ['listen'] })
  expect(live.view.internalNetworks).toEqual(['10.0.0.0/8'])
  expect(live.view.zones.get('example.test')?.ttl).toBe(30)
  expect(live.view.listen.port).toBe(8045)
})

test('a setting that needs a restart is named until then, and no longer when it is taken back', () => {
  const live = new LiveConfig(first)
  const other = read(`zones: { example.test: { ${ZONE} } }\nservers: { secondary: none }\n`)
  expect(live.replace(other).needRestart).toEqual(['servers'])
  expect(live.replace(other).needRestart).toEqual(['servers'])
  expect(live.replace(first)).toEqual({ changed: [], needRestart: [] })
})

test('another secret of the same key is a change', () => {
  const live = new LiveConfig(first)
  const text = `zones: { example.test: { ${ZONE} } }`
  expect(live.replace(read(text)).changed).toEqual([])
  expect(live.replace(read(text, 'b3RoZXI=')).changed).toEqual(['zones'])
  expect(live.view.zones.get('example.test')?.tsig?.secret.reveal()).toBe('b3RoZXI=')
})

test('the next key of a zone needs a first', () => {
  const zone = (keys: string) => `zones: { example.test: { primary: 192.168.45.253, ${keys} } }`
  const { tsig, nextTsig } = read(zone('tsig: { name: old }, nextTsig: { name: new }')).zones.get('example.test') ?? {}
  expect([tsig?.name, nextTsig?.name, nextTsig?.secret.reveal()]).toEqual(['old', 'new', 'bmV4dA=='])
  expect(() => read(zone('nextTsig: { name: new }'))).toThrow(
    `${CONFIG_FILE}:1: zones.example.test.nextTsig is there, but tsig is not. A single key is named tsig.`,
  )
})
