import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { isPublic } from '../../../src/config/status.ts'

const read = (status: string) =>
  readConfig(`zones: { example.test: { primary: 127.0.0.1 } }\nstatus: ${status}\n`, '/etc/drawbridge.yaml', {}).status

test('hosts that were not made here are asked for / and hidden, unless a rule says otherwise', () => {
  const status = read(
    '{ hosts: { Wiki.example.test: { path: /up?x=1, good: [204, 200-299], visibility: public }, b.test: {} } }',
  )
  expect(status.hosts.get('wiki.example.test')).toEqual({
    path: '/up?x=1',
    good: [
      [204, 204],
      [200, 299],
    ],
    visibility: 'public',
  })
  expect(['wiki.example.test', 'b.test', 'c.test'].map((host) => isPublic(status, host))).toEqual([true, false, false])
  const shown = read('{ showUnmanaged: public, hosts: { a.test: { visibility: internal } } }')
  expect(['a.test', 'b.test'].map((host) => isPublic(shown, host))).toEqual([false, true])
})

test.each([
  ['{ hosts: { "*.test": {} } }', 'status.hosts.*.test is not valid'],
  ['{ hosts: { a.test: {}, A.test: {} } }', 'status.hosts.A.test is not valid'],
  ['{ hosts: { a.test: { path: up } } }', 'status.hosts.a.test.path is not valid. Allowed: a path such as /healthz'],
  ['{ hosts: { a.test: { path: "//evil.test" } } }', 'status.hosts.a.test.path is not valid'],
  ['{ hosts: { a.test: { path: "/a b" } } }', 'status.hosts.a.test.path is not valid'],
  ['{ hosts: { a.test: { good: [] } } }', 'status.hosts.a.test.good is empty'],
  ['{ hosts: { a.test: { good: [299-200] } } }', 'Allowed: statuses (401) or ranges (200-399)'],
  ['{ hosts: { a.test: { good: [99] } } }', 'Allowed: statuses (401) or ranges (200-399)'],
  ['{ hosts: { a.test: { visibility: all } } }', 'Allowed: internal or public'],
  ['{ hosts: { a.test: { pfad: / } } }', 'is not a setting'],
])('%s is refused', (status, sentence) => expect(() => read(status)).toThrow(sentence))
