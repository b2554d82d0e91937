import { expect, test } from 'vitest'
import { isWithoutSite } from '../../../../src/estate/adopt/released-site.ts'
import { renderReleased } from '../../../../src/nginx/config/render-released.ts'

const LISTENING = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 } }
const TEXT = 'server {\n  listen 192.168.45.23:80;\n  server_name app.lab.test;\n}\n'
const [file] = renderReleased({ host: 'app.lab.test', text: TEXT, pair: undefined }, LISTENING, '/etc/nginx/drawbridge')
const released = file?.content ?? ''

test('a released file may be written anew only when its site was taken out, and nothing of the administrator is in it', () => {
  expect(isWithoutSite(released)).toBe(false)
  const left = released.replace(TEXT, '')
  expect(left).toContain('map $http_upgrade $released_')
  expect(isWithoutSite(left)).toBe(true)
  expect(isWithoutSite(`${left}map $http_accept $page { default 0; }\n`)).toBe(false)
  expect(isWithoutSite(`${left}include /etc/nginx/own.conf;\n`)).toBe(false)
})
