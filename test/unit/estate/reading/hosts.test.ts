import { describe, expect, test } from 'vitest'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'

const http = (text: string) => ({ 'nginx.conf': `events {}\nhttp {\n${text}\n}\n` })

describe('hosts', () => {
  test('are not those of a block that never ends: nginx serves none of it, and its words may be anything', async () => {
    using files = nginxFiles({
      'nginx.conf': 'events {}\nhttp { include sites/*; }\n',
      'sites/a.conf': 'server { server_name whole.test; }\nserver { # a word\n  server_name unended.test;\n',
    })
    const { hosts, broken, find } = await files.reader.read()
    expect(hosts.map(({ host }) => host)).toEqual(['whole.test'])
    expect(find('unended.test')).toBeUndefined()
    expect(broken).toMatchObject([{ path: files.path('sites/a.conf') }])
  })

  test('are found through includes, with path, line, places and target', async () => {
    using files = nginxFiles({
      'nginx.conf': 'events {}\nhttp { include sites/*; }\n',
      'sites/a.conf':
        '# one\nserver {\n  listen 80; listen [::]:80; server_name A.Example.test;\n  include snippets/proxy.conf;\n}\n',
      'snippets/proxy.conf': 'location / { proxy_pass http://192.168.45.25:3000/app; }',
    })
    const { hosts, broken } = await files.reader.read()
    expect(broken).toEqual([])
    expect(hosts).toEqual([
      {
        host: 'a.example.test',
        configPath: files.path('sites/a.conf'),
        line: 2,
        listen: ['*', '[::]'].map((address) => ({ address, port: 80, tls: false, defaultServer: true })),
        tls: false,
        proxyPass: 'http://192.168.45.25:3000',
        unresolved: false,
        target: { protocol: 'http', host: '192.168.45.25', port: 3000 },
        furtherTargets: 0,
      },
    ])
  })

  test('with a redirect beside them are told by the block that proxies', async () => {
    using files = nginxFiles(
      http(`server { listen 80; server_name a.test; return 301 https://$host$request_uri; }
server { listen 443 ssl; server_name a.test; location / { proxy_pass https://10.0.0.5; } }`),
    )
    const map = await files.reader.read()
    expect(map.find('A.test.')).toMatchObject({
      line: 4,
      tls: true,
      proxyPass: 'https://10.0.0.5',
      target: { protocol: 'https', host: '10.0.0.5', port: 443 },
      listen: [80, 443].map((port) => ({ port, tls: port === 443 })),
    })
    const plain = map.answers('a.test', { address: '10.1.1.1', port: 80, tls: false })
    expect(plain).toMatchObject({ how: 'exact', block: { line: 3, proxyPass: null, unresolved: false } })
  })
})
