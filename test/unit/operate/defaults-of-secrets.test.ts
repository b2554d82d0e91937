import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandLine } from '../../../src/compose/command-line.ts'
import { isPrivate } from '../../../src/config/secret.ts'
import { examineStore, isUnverifiedRemote } from '../../../src/operate/doctor/folders.ts'
import { GRANTED_TYPES, renderKeyHelp } from '../../../src/operate/init/files.ts'

test.each(['drawbridge.service', 'drawbridge-edge.service'])('a crash under %s leaves no dump of its memory', (unit) =>
  expect(readFileSync(`packaging/${unit}`, 'utf8')).toContain('\nLimitCORE=0\n'),
)

test('no document and no unit puts a secret into the environment', () => {
  const pages = globSync(['docs/**/*.md', 'README.md', '*.example.yaml', 'packaging/*.service'])
  const secret = /Environment(File)?=|DRAWBRIDGE_(STORE|ADMIN_TOKEN|TSIG|NEXT_TSIG|WEBHOOK|ACME)/
  expect(pages.length).toBeGreaterThan(20)
  expect(pages.filter((page) => secret.test(readFileSync(page, 'utf8')))).toEqual([])
})

test('every URL of PostgreSQL with a password in a document has TLS', () => {
  const urls = globSync(['docs/**/*.md', 'README.md', '*.example.yaml']).flatMap((page) => [
    ...readFileSync(page, 'utf8').matchAll(/postgres:\/\/[^\s`]*:[^\s`]*@[^\s`]*/g),
  ])
  expect(urls.length).toBeGreaterThan(0)
  expect(urls.map(([url]) => url).filter((url) => !url.includes('sslmode=verify-full'))).toEqual([])
})

test.each([[['backup', 'x.backup']], [['backup', 'x.backup', '--unencrypted', '--passphrase-file', 'x']]])(
  '%j is refused: it does not say whether to encrypt',
  (words) => expect(commandLine().parseAsync(['node', 'drawbridge', ...words])).rejects.toThrow('--unencrypted'),
)

test('the key for DNS updates gets the types that Drawbridge writes, and no others', () => {
  const key = { name: 'key', algorithm: 'hmac-sha256', secret: 'secret' } as const
  const help = renderKeyHelp({ name: 'lab.test', key, keptIn: undefined, types: GRANTED_TYPES, address: '192.0.2.1' })
  const text = help.join('\n')
  expect(text).toContain('update-policy { grant key. zonesub A AAAA TXT; };')
  expect(text).toContain('update-type: [A, AAAA, TXT]')
  expect(text).not.toContain('ANY;')
})

test.each([
  ['postgres://u:p@db.test/d', true],
  ['postgres://u:p@db.test/d?sslmode=require', true],
  ['postgres://u:p@192.0.2.1/d?sslmode=verify-ca', true],
  ['postgres://u:p@localhost/d?host=db.test', true],
  ['postgres://u:p@127.example.test/d', true],
  ['postgres://u:p@db.test/d?sslmode=verify-full', false],
  ['postgres://u:p@localhost/d', false],
  ['postgres://u:p@127.0.0.1:5432/d', false],
  ['postgres://u:p@[::1]/d', false],
  ['postgres://u:p@%2Frun%2Fpostgresql/d', false],
  ['postgres://u@localhost/d?host=/run/postgresql', false],
])('%s: doctor warns of its connection: %s', async (url, warned) => {
  expect(isUnverifiedRemote(url)).toBe(warned)
  const store = {
    ...{ file: undefined, version: async () => 1, oldest: 1, newest: 1 },
    ...{ isUnverified: isUnverifiedRemote(url), assertKey: () => undefined },
  }
  const found = await examineStore(store)
  expect(found.map(({ status }) => status)).toEqual(warned ? ['ok', 'warning'] : ['ok'])
})

test.each([
  ['/etc/drawbridge/secrets/token', 0o440, false],
  ['/run/credentials/drawbridge.service/token', 0o440, true],
  ['/run/credentials/drawbridge.service/token', 0o444, false],
])('a secret at %s of mode %o is private: %s', (path, mode, expected) => expect(isPrivate(path, mode)).toBe(expected))
