import { describe, expect, test } from 'vitest'
import { type Challenge, isChallenge } from '../../../src/edge/record/challenge.ts'
import { certificateId, entryFault } from '../../../src/edge/record/entry.ts'
import { entryProof } from '../../../src/edge/record/proof.ts'
import { directivesIn } from '../../../src/estate/reading/text/directives.ts'
import { blockIn, type Parts, renderParts, standaloneBlocks } from '../../../src/nginx/config/render-entry.ts'
import { isSecretFile, shardFile } from '../../../src/nginx/config/shards.ts'
import { renderPair } from '../../../src/nginx/generations/pairs.ts'
import { entryOf, PLAN_ID, type Site } from '../../support/edge/edge.ts'

const HOST = 'app.lab.test'
const PROOF = 'ab'.repeat(32)
const SITE: Site = { host: HOST, planId: PLAN_ID, target: 'http://127.0.45.25:3000', proof: PROOF }
/** With options an entry has server blocks of its own. */
const OPTIONS = { maxBody: '2m' }
const USUAL = { listen: ['192.168.45.23'], ports: { http: 80, https: 443 } }
const LAB = { listen: ['127.0.45.23', '::1'], ports: { http: 8080, https: 8443 } }
const OCTETS = Array.from({ length: 32 }, (_, index) => index.toString(16).toUpperCase().padStart(2, '0'))
const FINGERPRINT = OCTETS.join(':')
const ID = '000102030405060708090a0b0c0d0e0f'
const pem = (label: string, lines: number) =>
  `-----BEGIN ${label}-----\n${'A'.repeat(64)}\n`.concat(
    `${'b+/0'.repeat(16)}\n`.repeat(lines - 1),
    `-----END ${label}-----\n`,
  )
const PAIR = { certificatePem: pem('CERTIFICATE', 9), keyPem: pem('PRIVATE KEY', 3) }
const CERTIFICATE = { fingerprint: FINGERPRINT, ...PAIR }

const blockOf = (site: Site, listening = USUAL): string => {
  const parts = renderParts(entryOf({ ...site, options: OPTIONS }), listening)
  return blockIn(HOST, parts.get('blocks') ?? '')
}

describe('an entry as server blocks', () => {
  test('says who made it, for which plan, and not to edit', () => {
    const [comment] = blockOf(SITE).split('\n')
    expect(comment).toMatch(/^# app\.lab\.test: made by Drawbridge for plan_0{26}\. Do not edit/)
  })

  test('without TLS is one server that proxies', () => {
    const parts = renderParts(entryOf({ ...SITE, options: OPTIONS }), LAB)
    expect([...parts.keys()]).toEqual(['blocks'])
    const directives = directivesIn(parts.get('blocks') ?? '')
    const args = (name: string) =>
      directives.filter((directive) => directive.name === name).map(({ args }) => args.join(' '))
    expect(args('listen')).toEqual(['127.0.45.23:8080', '[::1]:8080'])
    expect(args('proxy_pass')).toEqual(['http://127.0.45.25:3000'])
    expect(args('proxy_set_header')).toContain('X-Forwarded-Host app.lab.test:8080')
  })

  test.each([
    [USUAL, 'https://app.lab.test$request_uri'],
    [LAB, 'https://app.lab.test:8443$request_uri'],
  ])('with TLS redirects to the port of the edge', (listening, url) =>
    expect(blockOf({ ...SITE, certificate: CERTIFICATE }, listening)).toContain(`return 308 ${url};`),
  )

  test('answers its question in every server block, keeps it from the backend, and each plan has another', () => {
    const text = (proof: string) => blockOf({ ...SITE, proof, certificate: CERTIFICATE })
    const { question, answer } = entryProof(PROOF, HOST)
    expect(question).not.toBe(answer)
    expect(
      text(PROOF).split(`if ($http_x_drawbridge_question = ${question}) { set $drawbridge_entry ${answer}; }`),
    ).toHaveLength(3)
    expect(text(PROOF)).toContain('proxy_set_header X-Drawbridge-Question "";')
    expect(text(PROOF)).toContain('proxy_hide_header X-Drawbridge-Entry;')
    expect(text('cd'.repeat(32))).not.toContain(answer)
    expect(entryProof(PROOF, 'other.lab.test').answer).not.toBe(answer)
  })
})

describe('an entry as lines', () => {
  const { question, answer } = entryProof(PROOF, HOST)

  test('is its name, its backend and its proof', () =>
    expect(Object.fromEntries(renderParts(entryOf(SITE), USUAL))).toEqual({
      'names-http': `server_name ${HOST};\n`,
      backends: `${HOST} http://127.0.45.25:3000;\n`,
      answers: `${HOST} ${question}:${answer};\n`,
    }))

  test('with TLS is a name of the other server, with the id of its certificate', () => {
    const parts = renderParts(entryOf({ ...SITE, certificate: CERTIFICATE }), USUAL)
    expect([parts.has('names-http'), parts.get('names-https')]).toEqual([false, `server_name ${HOST};\n`])
    expect(parts.get('tls/hosts')).toBe(`${HOST} ${ID};\n`)
    expect(certificateId(FINGERPRINT)).toBe(ID)
  })

  test('answers a challenge', () => {
    const parts = renderParts(entryOf(SITE), USUAL, { token: 'a-b_c', answer: 'a-b_c.d' })
    expect(parts.get('challenges')).toBe('"~^app\\.lab\\.test /\\.well-known/acme-challenge/a-b_c$" a-b_c.d;\n')
  })

  test.each(['app.lab.test http://127.0.45.25:3000; # mine', '  app.lab.test   http://127.0.45.25:3000 ;'])(
    'is read as blocks from a line that somebody edited and nginx takes: %j',
    (line) => {
      const parts: Parts = new Map([
        ['names-http', `server_name ${HOST};\n`],
        ['backends', `${line}\n`],
      ])
      expect(standaloneBlocks(HOST, parts, undefined, LAB)).toContain('proxy_pass http://127.0.45.25:3000;')
    },
  )
})

describe('a certificate with its key', () => {
  test('that is long is spread over parts that nginx can take, and nothing of it is lost', () => {
    const certificatePem = pem('CERTIFICATE', 70)
    const parts = [...renderPair(ID, { ...PAIR, certificatePem })].filter(([folder]) => folder.includes('certificate'))
    expect(parts.map(([folder]) => folder)).toEqual(['tls/certificates-1', 'tls/certificates-2'])
    for (const [, text] of parts) expect(text.length).toBeLessThan(4096)
    expect(parts.map(([, text]) => directivesIn(text)[0]?.args[0]).join('')).toBe(certificatePem)
  })

  test('is secret, and so is the record with its proof', () => {
    for (const folder of [...renderPair(ID, PAIR).keys(), 'entries'])
      expect(isSecretFile(shardFile(folder, ID))).toBe(true)
    expect(isSecretFile(shardFile('backends', HOST))).toBe(false)
  })

  test.each([
    { certificatePem: '' },
    { certificatePem: `${PAIR.certificatePem}";` },
    { certificatePem: `subject=x\n${PAIR.certificatePem}` },
    { certificatePem: pem('CERTIFICATE', 400) },
    { keyPem: pem('ENCRYPTED PRIVATE KEY', 3) },
    { keyPem: '$drawbridge_certificate_1' },
  ])('that is not PEM, or too long, is never written: %j', (change) =>
    expect(() => renderPair(ID, { ...PAIR, ...change })).toThrow(/^The certificate is not taken: The /),
  )

  test.each(['AA', FINGERPRINT.toLowerCase(), `${FINGERPRINT}\n`])(
    'has no id without a fingerprint: %j',
    (fingerprint) => expect(() => certificateId(fingerprint)).toThrow('The fingerprint of a certificate must be'),
  )
})

describe('what is not of its grammar is never taken', () => {
  const GOOD = entryOf(SITE)
  const target = (change: object) => ({ targets: [{ scheme: 'http', address: '127.0.45.25', port: 3000, ...change }] })

  test('a text of its grammar is taken', () => {
    expect(entryFault(GOOD)).toBeUndefined()
    expect(entryFault({ ...GOOD, ...target({}) })).toBeUndefined()
  })

  test.each([
    { host: 'App.lab.test' },
    { host: 'app.lab.test.' },
    { host: 'app.lab.test;' },
    { host: 'app.lab.test\nserver_name' },
    { host: '../app' },
    { host: '*.lab.test' },
    { host: '$host' },
    { host: '' },
    { host: `${'a'.repeat(60)}.`.repeat(5).slice(0, 251) },
    { plan: 'plan_1' },
    { plan: `${PLAN_ID}\n}` },
    { proof: undefined },
    { proof: { question: 'ab', answer: 'a'.repeat(32) } },
    { proof: { question: 'a'.repeat(32), answer: `${'a'.repeat(30)};}` } },
    { proof: { question: 'a'.repeat(32), answer: `${'a'.repeat(32)}\n` } },
    { targets: [] },
    target({ address: 'backend' }),
    target({ address: '127.0.45.25:1' }),
    target({ address: '127.0.45.25;' }),
    target({ address: '127.0.45.025' }),
    target({ address: '$host' }),
    target({ address: '::1%eth0' }),
    target({ address: '0:0:0:0:0:0:0:1' }),
    target({ port: 99_999 }),
    target({ port: 0 }),
    target({ port: '3000' }),
    target({ scheme: 'https' }),
    target({ scheme: 'http://x' }),
    target({ path: '/' }),
    { certificate: 'AA' },
    { certificate: ID.toUpperCase() },
    { certificate: `${ID}\n` },
    { certificate: undefined },
    { options: { maxBody: '2m; }' } },
    { options: { snippets: 'x' } },
    { options: { backends: ['x'] } },
    { exposure: 'exposure_1' },
    { health: 'no path' },
    { health: '/a b' },
    { path: '/etc/passwd' },
  ])('%j', (change) => expect(entryFault({ ...GOOD, ...change })).toEqual(expect.any(String)))

  test.each<Challenge>([
    { token: 'a/b', answer: 'a.b' },
    { token: 'a', answer: 'a"; b' },
    { token: 'a', answer: 'a' },
    { token: '', answer: 'a.b' },
    { token: 'a$', answer: 'a.b' },
  ])('the challenge %j', (challenge) => expect(isChallenge(challenge)).toBe(false))
})
