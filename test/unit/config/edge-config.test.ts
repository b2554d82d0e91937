import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'

const read = (settings: string) =>
  readConfig(`zones: { example.test: { primary: 192.168.45.253 } }\n${settings}`, '/etc/drawbridge/drawbridge.yaml', {})

test('without a word of it the Primary is an nginx as Debian installs it', () =>
  expect(read('').edges).toEqual({
    '23': {
      config: '/etc/nginx/nginx.conf',
      folder: '/etc/nginx/drawbridge',
      prefix: undefined,
      binary: 'nginx',
      pidFile: '/run/nginx.pid',
      errorLog: '/var/log/nginx/error.log',
      address: '192.168.45.23',
      listen: ['192.168.45.23'],
      named: { passwords: {}, authorities: {}, snippets: {} },
    },
  }))

test('only those are edges that are listed', () => {
  expect(read('edges: {}').edges).toEqual({})
  const { edges } = read('edges: { 73: { address: 10.0.0.7, binary: bin/nginx, folder: ours } }')
  expect(Object.keys(edges)).toEqual(['73'])
  expect(edges['73']).toMatchObject({
    address: '10.0.0.7',
    listen: ['10.0.0.7'],
    binary: '/etc/drawbridge/bin/nginx',
    folder: '/etc/drawbridge/ours',
  })
  expect(read('edges: { 23: { listen: [0.0.0.0, "::"] } }').edges['23']?.listen).toEqual(['0.0.0.0', '::'])
})

test.each([
  ['edges: { 99: {} }', 'edges.99 is not valid. Allowed: ids of servers'],
  ['edges: { 23: { folder: "/etc/a b" } }', 'edges.23.folder is not valid'],
  ['edges: { 23: { folder: "/etc/a;b" } }', 'edges.23.folder is not valid'],
  ['edges: { 23: { config: "/etc/*.conf" } }', 'edges.23.config is not valid'],
  ['edges: { 23: { listen: [everywhere] } }', 'edges.23.listen[0] is not valid'],
  ['edges: { 23: { foldr: x } }', 'edges.23.foldr is not a setting'],
])('%s', (settings, fault) => expect(() => read(settings)).toThrow(fault))
