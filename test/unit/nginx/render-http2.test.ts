import { expect, test } from 'vitest'
import { renderBase } from '../../../src/nginx/config/render-base.ts'

const settings = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 }, folder: '/etc/nginx/drawbridge' }
const generation = { number: 1, folder: '/etc/nginx/drawbridge/generations/1', serves: { http: true, https: true } }
const shared = { http: [], https: [{ address: '0.0.0.0', isShared: true }] }

test('HTTP/2 is a directive where nginx has it, and an option of listen where it has not', () => {
  const former = renderBase({ ...settings, hasHttp2: false }, generation)
  expect(former.match(/listen 192\.168\.45\.23:443 ssl http2;/g)).toHaveLength(2)
  expect(former).not.toContain('http2 on')
  const present = renderBase({ ...settings, hasHttp2: true }, generation)
  expect(present.match(/listen 192\.168\.45\.23:443 ssl;\n {2}http2 on;/g)).toHaveLength(2)
  expect(present).not.toContain('ssl http2')
})

test('an option of listen would change the protocols of others at the same address', () =>
  expect(renderBase({ ...settings, sockets: shared, hasHttp2: false }, generation)).not.toContain('http2'))
