import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listing } from '../../support/edge/edge-folder.ts'
import { debianMain, type OwnNginx, startOwnNginx } from '../../support/edge/own-nginx.ts'
import { SITE_STYLES } from '../../support/edge/sites/site-styles.ts'
import { command } from '../../support/programs/command.ts'

/** A real nginx says for every site whether the rest of its configuration stands without it. */
let own: OwnNginx
beforeAll(async () => {
  own = await startOwnNginx(({ http, https, prefix }) => {
    const files = { http, https, certificateFile: `${prefix}/own.crt`, keyFile: `${prefix}/own.key` }
    const site = (host: string, backend = '192.168.45.25:3000') => ({ ...files, host: `${host}.example.test`, backend })
    const block = (host: string, backend?: string) => SITE_STYLES[0]?.text(site(host, backend)) ?? ''
    const styles = SITE_STYLES.map(({ text }, at) => [`sites-enabled/${at}`, text(site(`site${at}`))] as const)
    return {
      ...Object.fromEntries(styles),
      // Another site uses the upstream of this file.
      'sites-enabled/lender': `upstream lent { server 192.168.45.25:3000; }\n${block('lender', 'lent')}`,
      'sites-enabled/borrower': block('borrower', 'lent'),
      // Two sites in one file, which a file below conf.d includes.
      'conf.d/nested.conf': `include ${prefix}/nested/*;\n`,
      'nested/two': block('first') + block('second'),
      // A site that defines what another one needs.
      'sites-enabled/zone': `limit_req_zone $remote_addr zone=shared:1m rate=900r/s;\n${block('owner')}`,
      'nginx.conf': debianMain(prefix).replace('\tgzip on;', `\tgzip on;\n${block('main')}`),
    }
  })
  const edge = `{ config: ${own.config}, folder: ${own.folder}, prefix: ${own.prefix}, binary: ${own.binary}, pidFile: ${own.pidFile}, listen: [${own.address}] }`
  writeFileSync(
    own.path('../drawbridge.yaml'),
    `zones:\n  example.test: { primary: 127.0.0.1, publish: { a: [192.168.45.23] } }\nedge: { http: ${own.ports.http}, https: ${own.ports.https} }\nedges:\n  "23": ${edge}\n`,
  )
})
afterAll(() => own?.stop())

interface Row {
  readonly host: string
  readonly adoptable: boolean
  readonly refused: readonly { readonly sentence: string }[]
}

test('nginx tests what is left without each site, and nothing is changed', async () => {
  const before = listing(own.prefix)
  const { stdout, stderr } = await command([
    ...['import', 'nginx', '--test', '-o', 'json', '--config', own.path('../drawbridge.yaml')],
  ])
  expect(stderr).toBe('')
  const { hosts } = JSON.parse(stdout) as { hosts: readonly Row[] }
  const names = hosts.filter(({ adoptable }) => adoptable).map(({ host }) => host.replace('.example.test', ''))
  const styles = SITE_STYLES.map((_, at) => `site${at}`)
  expect(names.toSorted()).toEqual(['borrower', 'first', 'lender', 'owner', 'second', ...styles].toSorted())
  const main = hosts.find(({ host }) => host === 'main.example.test')
  expect(main?.refused.map(({ sentence }) => sentence)).toEqual(['Its server block stands in the main file of nginx.'])
  expect(listing(own.prefix)).toEqual(before)
})

test('what nginx would not load without a site cannot be adopted', async () => {
  const listen = `listen ${own.address}:${own.ports.https} ssl`
  const tls = `ssl_certificate ${own.path('own.crt')}; ssl_certificate_key ${own.path('own.key')};`
  const proxy = 'location / { proxy_pass http://192.168.45.25:3000; proxy_set_header Host $host; }'
  own.write('sites-enabled/a', `server { ${listen}; server_name lends.example.test; ${tls} ${proxy} }\n`)
  // Without the block above it, this one is the default server of its socket, and has no certificate.
  own.write('sites-enabled/b', `server { ${listen}; server_name borrows.example.test; return 204; }\n`)
  const { stdout } = await command([
    ...['import', 'nginx', '--test', '-o', 'json', '--config', own.path('../drawbridge.yaml')],
  ])
  const { hosts } = JSON.parse(stdout) as { hosts: readonly Row[] }
  const lends = hosts.find(({ host }) => host === 'lends.example.test')
  expect(lends?.adoptable).toBe(false)
  expect(lends?.refused[0]?.sentence).toMatch(/^nginx would not load what is left without it: /)
  expect(hosts.find(({ host }) => host === 'site0.example.test')?.adoptable).toBe(true)
})
