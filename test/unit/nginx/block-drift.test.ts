import { expect, test } from 'vitest'
import { blockDrift } from '../../../src/nginx/generations/block-drift.ts'

/** Drift of a server block is told in options and counts, never in text of the file. */
const BLOCK = `#: app.lab.test
server {
  listen 192.0.2.1:80;
  server_name app.lab.test;
  if ($http_x = 11) { set $drawbridge_entry 22; }
  client_max_body_size 64m;
  location / {
    allow 192.0.2.0/24;
    deny all;
    auth_basic_user_file /etc/passwords/team;
    proxy_pass http://192.0.2.9:3000;
    proxy_read_timeout 300s;
  }
}
`
const edited = (from: string, to: string) => blockDrift(BLOCK, BLOCK.replace(from, to))

test.each([
  [
    'proxy_pass http://192.0.2.9:3000',
    'proxy_pass http://192.0.2.9:3999',
    'backend',
    'http://192.0.2.9:3000',
    'http://192.0.2.9:3999',
    10,
  ],
  ['proxy_read_timeout 300s;', 'proxy_read_timeout 5s;', 'timeouts.read', '300s', '5s', 11],
  ['  client_max_body_size 64m;\n', '', 'maxBody', '64m', 'unset', 0],
  ['{\n    allow', '{\n    allow 10.0.0.0/8;\n    allow', 'allow', 'unset', '10.0.0.0/8', 7],
] as const)('%s becomes %s', (from, to, field, expected, found, at) =>
  expect(edited(from, to)).toEqual([{ field, expected, found, at }]),
)

test('lines that belong to no option are counted, with the first of them', () => {
  const own = '    more_headers on;\n    proxy_cache off;\n'
  expect(edited('    proxy_pass', `${own}    proxy_pass`)).toEqual([{ field: 'block', added: 2, absent: 0, at: 10 }])
})

test('an option has its value told only where it is one word that is no secret', () => {
  expect(edited('= 11', '= 33')).toEqual([{ field: 'proof', at: 4 }])
  expect(edited('/etc/passwords/team', '/etc/passwords/all')).toEqual([{ field: 'basicAuth', at: 9 }])
  const query = edited('http://192.0.2.9:3000', 'http://192.0.2.9:3000/?token=canary')
  expect(query).toEqual([{ field: 'backend', at: 10 }])
})

test('several options are told apart, and another order of the same lines is an edit, too', () => {
  const both = BLOCK.replace('64m', '1m').replace('300s', '60s')
  expect(blockDrift(BLOCK, both).map(({ field }) => field)).toEqual(['maxBody', 'timeouts.read'])
  expect(edited('    deny all;\n', '').map(({ field }) => field)).toEqual(['allow'])
  expect(blockDrift('a;\nb;\n', 'b;\na;\n')).toEqual([{ field: 'block', at: 0 }])
})
