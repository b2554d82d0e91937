import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isSecret, parsePath } from '../../../src/edge/config/layout.ts'
import { entryProof } from '../../../src/edge/config/proof.ts'
import { idInEntry } from '../../../src/edge/config/render-certificate.ts'
import { blocksFromLines, renderSite } from '../../../src/edge/config/render-site.ts'
import type { Site } from '../../../src/edge/contract.ts'
import { directivesIn } from '../../../src/edge/reading/text/directives.ts'

const SITE: Site = { host: 'app.lab.test', planId: `plan_${'0'.repeat(26)}`, target: 'http://127.0.45.25:3000' }
const USUAL = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 } }
const LAB = { listen: ['127.0.45.23', '::1'], ports: { http: 8080, https: 8443 } }
const FINGERPRINT = Array.from({ length: 32 }, (_, index) => index.toString(16).toUpperCase().padStart(2, '0')).join(
  ':',
)
const ID = '000102030405060708090a0b0c0d0e0f'
const pem = (label: string, lines: number) =>
  `-----BEGIN ${label}-----\n${'A'.repeat(64)}\n`.concat(
    `${'b+/0'.repeat(16)}\n`.repeat(lines - 1),
    `-----END ${label}-----\n`,
  )
const CERTIFICATE = { fingerprint: FINGERPRINT, certificatePem: pem('CERTIFICATE', 9), keyPem: pem('PRIVATE KEY', 3) }

const contentOf = (site: Site, path: string, listening = USUAL) =>
  renderSite(site, listening, 'blocks').find((file) => file.path === path)?.content ?? ''

describe('a site', () => {
  test('says who made it, for which plan, and not to edit', () => {
    const [comment] = contentOf(SITE, 'hosts/app.lab.test.conf').split('\n')
    expect(comment).toMatch(/^# app\.lab\.test: made by Drawbridge for plan_0{26}\. Do not edit/)
  })

  test('without TLS is one file with one server that proxies', () => {
    const [file, ...more] = renderSite(SITE, LAB, 'blocks')
    expect(more).toEqual([])
    const directives = directivesIn(file?.content ?? '')
    const args = (name: string) =>
      directives.filter((directive) => directive.name === name).map(({ args }) => args.join(' '))
    expect(args('listen')).toEqual(['127.0.45.23:8080', '[::1]:8080'])
    expect(args('proxy_pass')).toEqual(['http://127.0.45.25:3000'])
    expect(args('proxy_set_header')).toContain('X-Forwarded-Host app.lab.test:8080')
  })

  test.each(['app.lab.test http://127.0.45.25:3000; # mine', '  app.lab.test   http://127.0.45.25:3000 ;'])(
    'is read from a line that somebody edited and nginx takes: %j',
    (line) => {
      const lines = `http server_name app.lab.test;\nbackend ${line}\n`
      expect(blocksFromLines('app.lab.test', lines, LAB)).toContain('proxy_pass http://127.0.45.25:3000;')
    },
  )

  test.each([
    [USUAL, 'https://app.lab.test$request_uri'],
    [LAB, 'https://app.lab.test:8443$request_uri'],
  ])('with TLS redirects to the port of the edge', (listening, url) => {
    const site = { ...SITE, certificate: CERTIFICATE }
    expect(contentOf(site, 'hosts/app.lab.test.conf', listening)).toContain(`return 308 ${url};`)
    expect(contentOf(site, 'tls/hosts/app.lab.test.map')).toBe(`app.lab.test ${ID};\n`)
    expect(idInEntry(contentOf(site, 'tls/hosts/app.lab.test.map'))).toBe(ID)
  })

  test('a long chain is spread over parts that nginx can take, and nothing of it is lost', () => {
    const certificatePem = pem('CERTIFICATE', 70)
    const files = renderSite({ ...SITE, certificate: { ...CERTIFICATE, certificatePem } }, USUAL, 'blocks')
    const parts = files.filter(({ path }) => path.includes('certificate'))
    expect(parts.map(({ path }) => path)).toEqual([`tls/certificates/${ID}.map`, `tls/more/${ID}.certificate-2.map`])
    for (const { content } of parts) expect(content?.length).toBeLessThan(4096)
    expect(parts.map(({ content }) => directivesIn(content ?? '')[0]?.args[0]).join('')).toBe(certificatePem)
  })

  const PROOF = 'ab'.repeat(32)

  test('of a plan without a proof is to the byte what 0.1 wrote: such files stand, and are put back', () => {
    const text = contentOf({ ...SITE, certificate: CERTIFICATE }, 'hosts/app.lab.test.conf')
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      '492d39383fd7089019723740380faaa5456871fb89b7fc73bb1e4ed9e89857aa',
    )
  })

  test('answers its question in every server block, keeps it from the backend, and each plan has another', () => {
    const text = (proof: string) => contentOf({ ...SITE, proof, certificate: CERTIFICATE }, 'hosts/app.lab.test.conf')
    const { question, answer } = entryProof(PROOF, SITE.host)
    expect(question).not.toBe(answer)
    expect(
      text(PROOF).split(`if ($http_x_drawbridge_question = ${question}) { set $drawbridge_entry ${answer}; }`),
    ).toHaveLength(3)
    expect(text(PROOF)).toContain('proxy_set_header X-Drawbridge-Question "";')
    expect(text(PROOF)).toContain('proxy_hide_header X-Drawbridge-Entry;')
    expect(text('cd'.repeat(32))).not.toContain(answer)
    expect(entryProof(PROOF, 'other.lab.test').answer).not.toBe(answer)
  })

  test('keys alone are secret', () => {
    const files = renderSite({ ...SITE, certificate: CERTIFICATE }, USUAL, 'lines')
    expect(files.filter(({ secret }) => secret).map(({ path }) => path)).toEqual([`tls/keys/${ID}.map`])
    for (const { path, secret } of files) expect(isSecret(path)).toBe(secret)
  })
})

describe('what is not of its grammar is never written', () => {
  const certificate = (change: object) => ({ certificate: { ...CERTIFICATE, ...change } })
  test.each<Partial<Site>>([
    { host: 'App.lab.test' },
    { host: 'app.lab.test.' },
    { host: 'app.lab.test;' },
    { host: 'app.lab.test\nserver_name' },
    { host: '../app' },
    { host: '*.lab.test' },
    { host: '$host' },
    { host: '' },
    { host: `${'a'.repeat(60)}.`.repeat(5).slice(0, 251) },
    { planId: 'plan_1' },
    { proof: 'ab' },
    { proof: `${'ab'.repeat(31)};}` },
    { planId: `${SITE.planId}\n}` },
    { target: 'http://127.0.45.25:3000/' },
    { target: 'http://127.0.45.25' },
    { target: 'https://127.0.45.25:3000' },
    { target: 'http://backend:3000' },
    { target: 'http://127.0.45.25:99999' },
    { target: 'http://127.0.45.25:3000;' },
    { target: 'http://127.0.45.25:03000' },
    { target: 'http://$host:3000' },
    { challenges: { 'a/b': 'a.b' } },
    { challenges: { a: 'a"; b' } },
    { challenges: { a: 'a' } },
    certificate({ fingerprint: 'AA' }),
    certificate({ fingerprint: FINGERPRINT.toLowerCase() }),
    certificate({ certificatePem: '' }),
    certificate({ certificatePem: `${CERTIFICATE.certificatePem}";` }),
    certificate({ certificatePem: `subject=x\n${CERTIFICATE.certificatePem}` }),
    certificate({ certificatePem: pem('CERTIFICATE', 400) }),
    certificate({ keyPem: pem('ENCRYPTED PRIVATE KEY', 3) }),
    certificate({ keyPem: '$drawbridge_certificate_1' }),
  ])('%j', (change) => {
    for (const layout of ['lines', 'blocks'] as const)
      expect(() => renderSite({ ...SITE, ...change }, USUAL, layout)).toThrow(/^(?:"[\s\S]*" is not |The )/)
  })
})

describe('paths', () => {
  test.each([
    'hosts/../nginx.conf',
    'hosts/.conf',
    'hosts/a b.conf',
    '/etc/passwd',
    'drawbridge.conf/',
    'other.conf',
    `tls/certificates/${ID}.certificate-2.map`,
    `tls/more/${ID}.map`,
    `tls/more/${ID}.key-9.map`,
    'tls/hosts/a.b.map\n',
    'entries/a b',
    'entries/../nginx.conf',
    'generations/1/backends/00.map',
  ])('%j is none of ours', (path) => {
    expect(() => parsePath(path)).toThrow()
  })

  test.each([
    ['entries/a.b', 'lines'],
    ['hosts/a.b.conf', 'block'],
    ['tls/hosts/a.b.map', 'certificate entry'],
    [`tls/keys/${ID}.map`, 'certificate'],
    [`tls/more/${ID}.certificate-4.map`, 'certificate'],
  ])('%j is %s', (path, kind) => {
    expect(parsePath(path).kind).toBe(kind)
  })
})
