import { createPrivateKey, createPublicKey, randomBytes, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newKey } from '../../../src/edge/authority/authority.ts'
import { issueCertificate } from '../../../src/edge/authority/certificate.ts'
import { certificateId } from '../../../src/edge/record/entry.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { includeSites, siteFile, writeSites } from '../../support/edge/sites/written-sites.ts'
import { askAgent, type LabAgents, startAgents } from '../../support/lab/agents.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'

/** Somebody has the service's user and all its files, and writes to the agent what he likes. */
let lab: TestLab
let agents: LabAgents
let socket: string
let backend: string
let snippet: string

const OPTIONS = { maxBody: '5m', allow: ['10.0.0.0/8'], snippets: ['ours'] }

beforeAll(async () => {
  lab = await startTestLab({ service: false })
  snippet = join(lab.state, 'ours.conf')
  writeFileSync(snippet, '# Nothing.\n')
  agents = await startAgents(lab, {
    adjust: (config) => ({
      ...config,
      options: { snippets: { ours: snippet } },
      adopt: { enabled: config.server === '23' },
    }),
  })
  socket = agents.agents['23']?.socket ?? ''
  backend = lab.description.backends[0]?.address ?? ''
}, 120_000)
afterAll(async () => {
  await agents?.stop()
  await lab?.stop()
}, 60_000)

const HOST = 'shop.lab.test'
/** Hand-written. */
const SITE = 'kept.lab.test'
const PLAN = `plan_${'a'.repeat(26)}`
const folder = () => lab.description.edges.primary.folder
const generation = () => new PresentGeneration(folder()).number

type Record = { readonly [name: string]: unknown }

const entryOf = (host = HOST, more: Record = {}): Record => ({
  ...{ host, plan: PLAN, certificate: null },
  targets: [{ scheme: 'http', address: backend, port: 3000 }],
  proof: { question: 'a'.repeat(32), answer: 'b'.repeat(32) },
  ...more,
})
const target = (more: Record) => ({ targets: [{ scheme: 'http', address: backend, port: 3000, ...more }] })

/** A certificate of no authority that anybody knows. */
function pairFor(host: string) {
  const { key: keyPem, publicKey } = newKey()
  const signer = { name: host, key: createPrivateKey(keyPem) }
  const wish = {
    name: host,
    publicKey: createPublicKey(publicKey),
    use: 'server',
    from: Date.now(),
    lifeMs: 86_400_000,
  } as const
  const certificatePem = issueCertificate(wish, signer)
  return { certificatePem, keyPem, fingerprint: new X509Certificate(certificatePem).fingerprint256 }
}

const itemOf = (host: string, wanted: unknown, more: Record = {}): Record => ({
  ...{ host, expected: 'any', wanted },
  fence: { host, epoch: 1, number: 1 },
  ...more,
})
const changeOf = (items: readonly Record[], more: Record = {}) => ({
  ...{ id: randomBytes(16).toString('hex'), heldForMs: null, items },
  ...more,
})
const RUNS = { own: 'a', other: 'b' }
const by = (run: keyof typeof RUNS) => ({
  run: { run: `run_${RUNS[run].repeat(26)}`, store: `store_${'a'.repeat(26)}` },
})

/** What became of a change: the status of a message that is none, the kind of its fault, or what became of each host. */
async function changed(message: unknown, at = socket): Promise<number | string> {
  const { status, body } = await askAgent(at, 'change', message)
  if (status !== 200) return status
  const { verdict } = JSON.parse(body.trim().split('\n').at(-1) ?? '')
  if (verdict.state === 'refused') return verdict.fault.kind
  if (verdict.state !== 'done') return verdict.state
  return verdict.hosts.map((one: { state: string; fault?: { kind: string } }) => one.fault?.kind ?? one.state).join(' ')
}
const sent = (host: string, wanted: unknown, more: Record = {}) => changed(changeOf([itemOf(host, wanted, more)]))

/** Not of the form of its verb, or not accepted. */
const REFUSED = expect.toSatisfy((outcome) => outcome === 400 || outcome === 'change_invalid')

describe('paths and text in place of a host', () => {
  test.each([
    '../../../../etc/passwd',
    'shop.lab.test/../../x',
    '/etc/passwd',
    'drawbridge.conf',
    '.fences',
    '',
    'a\nb.lab.test',
    'a;b.lab.test',
    'shop.lab.test; return 200 x',
    'shop.lab.test\0',
    '*.lab.test',
    'SHOP.lab.test',
    'shop.lab.test.',
    '$host.lab.test',
    `${'a'.repeat(64)}.lab.test`,
  ])('%j is neither looked for nor written', async (host) => {
    const before = generation()
    if (host !== 'drawbridge.conf') {
      for (const [verb, asked] of [
        ['look', { text: host }],
        ['look', { conflict: { host, tls: false } }],
        ['look', { site: { host, targets: [] } }],
        ['look', { newestError: { host, since: 0 } }],
        ['visit', { questions: [{ kind: 'certificate', host }] }],
        ['visit', { questions: [{ kind: 'answer', host, path: '/', tls: false }] }],
      ] as const)
        expect((await askAgent(socket, verb, asked)).status).toBe(400)
      expect((await askAgent(socket, 'list', { hosts: [host] })).status).toBe(400)
    }
    const wishes = [entryOf(host), entryOf(HOST), 'absent', 'same', 'before', 'released', { asIn: 1 }]
    for (const wanted of wishes) expect(await sent(host, wanted)).toEqual(REFUSED)
    const challenge = { host, fence: { host, epoch: 1, number: 1 }, token: 't', answer: 't.t', heldForMs: null }
    const { status, body } = await askAgent(socket, 'challenge', challenge)
    expect(status === 400 || JSON.parse(body).fault.kind === 'change_invalid').toBe(true)
    expect(generation()).toBe(before)
  })

  test('files that nginx does not read are not looked at', async () => {
    expect((await askAgent(socket, 'look', { loaded: ['/etc/shadow'] })).status).toBe(400)
    const beside = join(folder(), 'current/../../../../etc/shadow')
    expect((await askAgent(socket, 'look', { loaded: [beside] })).status).toBe(400)
  })

  test('no message of an earlier version reads or writes a file', async () => {
    for (const verb of [
      'read',
      'hash',
      'files-for',
      'released',
      'try-out',
      'taken-out',
      'fence',
      'show',
      'where',
      'prepare',
    ])
      expect((await askAgent(socket, verb, ['entries/shop.lab.test'])).status).toBe(404)
  })
})

describe('entries', () => {
  const cases: [string, () => Record][] = [
    ['a variable as backend', () => target({ address: '$http_x_target' })],
    ['a newline in the backend', () => target({ address: `${backend}:3000;\nevil.test http://1.1.1.1` })],
    ['a file as backend', () => target({ address: 'unix:/var/run/docker.sock' })],
    ['a name as backend', () => target({ address: 'metadata.internal' })],
    ['a backend in another spelling', () => target({ address: `${backend}.` })],
    ['a number as backend', () => target({ address: '2130706433' })],
    ['a backend that is not allowed', () => target({ address: '169.254.169.254' })],
    ['a port that is not allowed', () => target({ port: 22 })],
    ['a port with text', () => target({ port: '3000; return 200' })],
    ['a port that is none', () => target({ port: 3000.5 })],
    ['another scheme', () => target({ scheme: 'file' })],
    ['https without an authority', () => target({ scheme: 'https' })],
    ['a path behind the backend', () => target({ path: '/$request_uri' })],
    ['a long server', () => target({ server: 'x'.repeat(33) })],
    ['no backend', () => ({ targets: [] })],
    ['too many backends', () => ({ targets: Array.from({ length: 10 }, () => target({}).targets[0]) })],
    [
      'a further backend that is not allowed',
      () => ({ targets: [...target({}).targets, ...target({ address: '169.254.169.254' }).targets] }),
    ],
    ['another host', () => ({ host: 'bank.lab.test' })],
    ['a wildcard', () => ({ host: '*.lab.test' })],
    ['a directive behind the name', () => ({ host: `${HOST}; return 200 x` })],
    ['a plan that is none', () => ({ plan: 'plan_$(id)' })],
    ['a plan with a line break', () => ({ plan: `${PLAN}\n}` })],
    ['a path as plan', () => ({ plan: '../../../etc' })],
    ['an exposure with text', () => ({ exposure: 'exposure_"; include /etc/passwd;' })],
    ['an answer with text', () => ({ proof: { question: 'a'.repeat(32), answer: '"$request_body"' } })],
    ['a question with a line break', () => ({ proof: { question: `${'a'.repeat(32)}\n`, answer: 'b'.repeat(32) } })],
    ['no proof', () => ({ proof: undefined })],
    ['more in the proof', () => ({ proof: { question: 'a'.repeat(32), answer: 'b'.repeat(32), include: '/x' } })],
    ['a path as certificate', () => ({ certificate: '/etc/ssl/private/own.key' })],
    ['a path with the length of an id', () => ({ certificate: '../'.repeat(10).padEnd(32, 'x') })],
    ['a certificate that the edge does not have', () => ({ certificate: '0'.repeat(32) })],
    ['a health path with a line break', () => ({ health: '/\nserver {}' })],
    ['a health path that is none', () => ({ health: 'http://evil.test/' })],
    ['an owner with a line break', () => ({ owner: 'team\n}' })],
    ['a note with a control character', () => ({ note: 'x\u001b[2J' })],
    ['a long note', () => ({ note: 'x'.repeat(100_000) })],
    ['text of nginx', () => ({ text: 'include /etc/passwd;' })],
    ['a challenge', () => ({ challenge: { token: 'x', answer: '$ssl_client_cert' } })],
    ['options that are no object', () => ({ options: 'include /etc/passwd;' })],
  ]
  test.each(cases)('%s: nginx is not given it', async (_, spoil) => {
    const before = generation()
    const spoiled = { ...entryOf(), ...spoil() }
    expect(JSON.stringify(spoiled)).not.toBe(JSON.stringify(entryOf()))
    expect(await sent(HOST, spoiled)).toEqual(REFUSED)
    expect(generation()).toBe(before)
  })

  // Row 36 of the threats: text hidden beside what is judged.
  test('one host twice is refused, whichever of the two is an entry', async () => {
    const before = generation()
    const [good, bad] = [entryOf(), entryOf(HOST, target({ address: '169.254.169.254' }))]
    for (const [one, other] of [
      [bad, good],
      [good, bad],
      [good, good],
      ['absent', good],
      ['same', good],
    ])
      expect(await changed(changeOf([itemOf(HOST, one), itemOf(HOST, other)]))).toBe('change_invalid')
    expect(generation()).toBe(before)
  })

  test('one bad entry among good ones refuses them all', async () => {
    const before = generation()
    const items = [itemOf('one.lab.test', entryOf('one.lab.test')), itemOf(HOST, entryOf(HOST, target({ port: 22 })))]
    for (const some of [items, items.toReversed()]) expect(await changed(changeOf(some))).toBe('change_invalid')
    expect(generation()).toBe(before)
  })

  test('one member twice is refused', async () => {
    const text = JSON.stringify(changeOf([itemOf(HOST, entryOf())]))
    for (const [member, twice] of [
      ['{', '{"items":[],'],
      ['"wanted":{', '"wanted":{"host":"bank.lab.test",'],
      ['"expected":', '"expected":"absent","expected":'],
    ] as const) {
      expect(text).toContain(member)
      expect((await askAgent(socket, 'change', text.replace(member, twice))).status).toBe(400)
    }
  })

  test('a change of a host without its fence, or with that of another one, is refused', async () => {
    const before = generation()
    const other = { host: 'other.lab.test', epoch: 1, number: 1 }
    for (const wanted of [entryOf(), 'absent', 'same', 'before', 'released', { asIn: 1 }])
      for (const fence of [undefined, other]) expect(await sent(HOST, wanted, { fence })).toEqual(REFUSED)
    expect(generation()).toBe(before)
  })

  test('a generation that never was, or is not kept, brings nothing', async () => {
    const before = generation()
    for (const asIn of [0, -1, 1.5, '1', '../1', null, 9_007_199_254_740_992])
      expect(await sent(HOST, { asIn })).toBe(400)
    for (const asIn of [999_999, Number.MAX_SAFE_INTEGER]) expect(await sent(HOST, { asIn })).toBe('change_invalid')
    expect(await sent(HOST, { asIn: 1, host: HOST })).toBe(400)
    expect(generation()).toBe(before)
  })
})

describe('certificates', () => {
  const given = async (pair: Record) => {
    const { status, body } = await askAgent(socket, 'certificate', pair)
    return status === 200 ? JSON.parse(body) : status
  }
  const INVALID = { fault: expect.objectContaining({ kind: 'change_invalid' }) }

  test('a pair is a certificate with its own key, and nothing else', async () => {
    const [{ certificatePem, keyPem }, other] = [pairFor(HOST), pairFor('bank.lab.test')]
    for (const pair of [
      { certificatePem, keyPem: other.keyPem },
      { certificatePem: keyPem, keyPem },
      { certificatePem, keyPem: certificatePem },
      { certificatePem, keyPem: '' },
      { certificatePem: `${certificatePem}";\ninclude /etc/passwd;\n`, keyPem },
      { certificatePem: `${certificatePem}$ssl_client_cert\n`, keyPem },
      { certificatePem, keyPem: `${keyPem}# x\n` },
      { certificatePem: certificatePem.repeat(40), keyPem },
    ])
      expect(await given(pair)).toEqual(INVALID)
    expect(await given({ certificatePem, keyPem, id: '../../x' })).toBe(400)
    expect(await given({ certificatePem: 'x'.repeat(100_000), keyPem })).toBe(400)
    expect((await askAgent(socket, 'list', { hosts: [], certificates: ['../../x'] })).status).toBe(400)
  })

  test('an entry gets only a certificate of its own host', async () => {
    const [own, other] = [pairFor(HOST), pairFor('bank.lab.test')]
    for (const { certificatePem, keyPem } of [own, other]) await given({ certificatePem, keyPem })
    const before = generation()
    expect(await sent(HOST, entryOf(HOST, { certificate: certificateId(other.fingerprint) }))).toBe('change_invalid')
    expect(generation()).toBe(before)
    expect(await sent(HOST, entryOf(HOST, { certificate: certificateId(own.fingerprint) }))).toBe('serving')
  })

  test('no key comes back, by no verb', async () => {
    const { certificatePem, keyPem, fingerprint } = pairFor('keyed.lab.test')
    await given({ certificatePem, keyPem })
    const host = 'keyed.lab.test'
    const entry = entryOf(host, { certificate: certificateId(fingerprint), options: OPTIONS })
    expect(await sent(host, entry)).toBe('serving')
    const [, line = ''] = keyPem.split('\n')
    const messages: [string, unknown][] = [
      ['describe', { prepared: true }],
      ['list', {}],
      ['list', { hosts: [host], certificates: [certificateId(fingerprint)], unsettled: true }],
      ['look', { served: { since: null }, text: host, findings: true, valid: true, noDebugLog: true }],
      ['look', { conflict: { host, tls: true }, site: { host, targets: [] }, newestError: { host, since: 0 } }],
      ['visit', { questions: [{ kind: 'certificate', host }] }],
      ['certificate', { certificatePem, keyPem }],
    ]
    for (const [verb, asked] of messages) {
      const { status, body } = await askAgent(socket, verb, asked)
      expect([verb, status, body.includes(line)]).toEqual([verb, 200, false])
    }
    expect(await sent(host, 'absent')).toBe('serving')
  })
})

describe('challenges', () => {
  const asked = (more: Record) => ({
    ...{ host: HOST, fence: { host: HOST, epoch: 1, number: 1 }, token: 'tok', answer: 'tok.key', heldForMs: null },
    ...more,
  })
  test.each<[string, Record]>([
    ['a path as token', { token: '../../x' }],
    ['a line break in the token', { token: 'x\n' }],
    ['text behind the token', { token: 'x$"; include /etc/passwd; #' }],
    ['a variable as answer', { answer: '$ssl_client_cert' }],
    ['text in the answer', { answer: 'tok.key; return 200' }],
    ['an answer of one part', { answer: 'tok' }],
    ['a long answer', { answer: `tok.${'x'.repeat(600)}` }],
    ['a member more', { path: '/' }],
  ])('%s is not answered', async (_, more) => {
    const before = generation()
    expect((await askAgent(socket, 'challenge', asked(more))).status).toBe(400)
    expect(generation()).toBe(before)
  })

  test('one of a host that the edge does not serve, or without its fence, is not answered', async () => {
    for (const host of ['unserved.lab.test', 'shop.customer.test']) {
      const { body } = await askAgent(socket, 'challenge', asked({ host, fence: { host, epoch: 1, number: 1 } }))
      expect(JSON.parse(body)).toMatchObject({ fault: { kind: 'change_invalid' } })
    }
    const { body } = await askAgent(socket, 'challenge', asked({ fence: { host: SITE, epoch: 1, number: 1 } }))
    expect(JSON.parse(body)).toMatchObject({ fault: { kind: 'change_invalid' } })
  })
})

describe('options', () => {
  const cases: [string, Record][] = [
    ['text in a value', { maxBody: '5m; } server { listen 81; location / { root /; } } #' }],
    ['a value that no grammar has', { maxBody: '5t' }],
    ['a variable', { maxBody: '$http_x' }],
    ['NUL', { maxBody: '5m\0' }],
    ['a line break', { maxBody: '5m\n' }],
    ['text behind a network', { allow: ['10.0.0.0/8; root /'] }],
    ['a network in another spelling', { allow: ['2001:DB8::/32'] }],
    ['one network twice', { allow: ['10.0.0.0/8', '10.0.0.0/8'] }],
    ['no network', { allow: [] }],
    ['too many networks', { allow: Array.from({ length: 65 }, (_, at) => `10.${at}.0.0/16`) }],
    ['a snippet that edge.yaml does not name', { snippets: ['theirs'] }],
    ['a snippet by its path', { snippets: ['/etc/passwd'] }],
    ['a snippet by the name of a member of every object', { snippets: ['constructor'] }],
    ['passwords that edge.yaml does not name', { basicAuth: 'theirs' }],
    ['passwords by their path', { basicAuth: '/etc/shadow' }],
    ['an authority that edge.yaml does not name', { backendTls: { authority: 'theirs' } }],
    ['a name with text for the backend', { backendTls: { authority: 'theirs', name: 'x; root /' } }],
    ['a header of its own', { headers: { 'X-Evil': 'x' } }],
    ['text in a header', { headers: { robots: 'none"; root /; #' } }],
    ['an option that is none', { raw: 'root /;' }],
    ['backends that are not judged', { backends: [{ server: '25', port: 22 }] }],
    ['a time that is too long', { timeouts: { read: 1e9 } }],
    ['a time with text', { timeouts: { read: '5s; root /' } }],
    ['no option', {}],
  ]
  test.each(cases)('%s: nginx is not given it', async (_, options) => {
    const before = generation()
    expect(await sent(HOST, entryOf(HOST, { options }))).toEqual(REFUSED)
    expect(generation()).toBe(before)
  })

  test('what matches its grammar is taken', async () => {
    const targets = [...target({}).targets, ...target({ port: 3001 }).targets]
    expect(await sent(HOST, entryOf(HOST, { options: OPTIONS, targets }))).toBe('serving')
    expect(await sent(HOST, 'absent')).toBe('serving')
  })
})

describe('what is not the service’s', () => {
  const released = (host: string, ending: string) => join(`${folder()}-released`, `${host}.${ending}`)

  test('a released file is neither removed nor replaced, also not in the guise of an undo', async () => {
    const host = 'gone.lab.test'
    mkdirSync(`${folder()}-released`, { recursive: true })
    const texts = {
      conf: 'map $host $of_an_administrator { default 1; }\n',
      crt: '# crt of an administrator\n',
      key: '# key of an administrator\n',
    }
    for (const [ending, text] of Object.entries(texts)) writeFileSync(released(host, ending), text)
    expect(await sent(host, entryOf(host))).toBe('serving')
    for (const run of [by('own'), by('other'), {}])
      for (const wanted of ['released', 'before']) await changed(changeOf([itemOf(host, wanted)], run))
    expect(await sent(host, 'released')).toBe('changed_meanwhile')
    for (const [ending, text] of Object.entries(texts)) expect(readFileSync(released(host, ending), 'utf8')).toBe(text)
    expect(await sent(host, 'absent')).toBe('serving')
  })

  test('a host that the edge does not serve cannot be released', async () => {
    expect(await sent('unserved.lab.test', 'released')).toBe('changed_meanwhile')
    expect(existsSync(released('unserved.lab.test', 'conf'))).toBe(false)
  })

  test('a host of another zone is not taken from whoever serves it, and gets no fence', async () => {
    const host = 'shop.customer.test'
    const before = generation()
    for (const wanted of [entryOf(host), 'absent', 'same', 'before', 'released', { asIn: 1 }])
      for (const run of [by('own'), {}])
        expect(await changed(changeOf([itemOf(host, wanted)], run))).toBe('change_invalid')
    const beside = changeOf([itemOf(HOST, 'same'), itemOf(host, 'same')])
    expect(await changed(beside)).toBe('change_invalid')
    const { body } = await askAgent(socket, 'list', { hosts: [host] })
    expect(JSON.parse(body).answer.hosts).toMatchObject([{ host, entry: null, fence: null }])
    expect(generation()).toBe(before)
  })
})

describe('messages', () => {
  test('what is not of the form of its verb is refused before it is looked at', async () => {
    const fits = changeOf([itemOf(HOST, entryOf())])
    for (const message of [
      '{',
      '[]',
      'null',
      { ...fits, shell: 'id' },
      { ...fits, id: '../../x' },
      { ...fits, files: [{ path: 'x', content: 'x', secret: false }] },
      { ...fits, items: [{ ...fits.items[0], mode: 0o777 }] },
      { ...fits, items: [itemOf(HOST, 'anything')] },
      { ...fits, items: [itemOf(HOST, entryOf(), { expected: 'x' })] },
      { ...fits, items: [itemOf(HOST, entryOf(), { expected: { revision: '../x' } })] },
      { ...fits, items: [itemOf(HOST, entryOf(), { mend: 'yes' })] },
      { ...fits, items: [itemOf(HOST, entryOf(), { fence: { host: HOST, epoch: -1, number: 1 } })] },
      { ...fits, items: [itemOf(HOST, entryOf(), { fence: { host: HOST, epoch: 1, number: 1, store: '../x' } })] },
      { ...fits, run: { run: '../x', store: `store_${'a'.repeat(26)}` } },
      { ...fits, run: { run: `run_${'a'.repeat(26)}`, store: 'x y' } },
      { ...fits, settles: ['../../x'] },
      { ...fits, floor: { store: '../x', epoch: 1 } },
      { ...fits, withdraw: true },
      { id: fits.id, withdraw: 'yes' },
      `{"__proto__":{"x":1},"id":"${'0'.repeat(32)}"}`,
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    ])
      expect((await askAgent(socket, 'change', message)).status).toBe(400)
    expect((await askAgent(socket, 'exec', {})).status).toBe(404)
    expect((await askAgent(socket, '../v1/describe', {})).status).toBe(404)
    expect((await askAgent(socket, 'describe', {}, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  test('what is too large is refused before it is read', async () => {
    expect((await askAgent(socket, 'describe', {}, { 'content-length': String(1e9) })).status).toBe(413)
    expect((await askAgent(socket, 'look', { text: 'a'.repeat(300) })).status).toBe(400)
    const long = changeOf([itemOf(HOST, entryOf(HOST, { note: 'x'.repeat(2_000_000) }))])
    expect((await askAgent(socket, 'change', long)).status).toBe(400)
    expect((await askAgent(socket, 'certificate', {}, { 'content-length': String(300_000) })).status).toBe(413)
  })

  test('the agent visits only its own nginx', async () => {
    const visit = { kind: 'answer', host: HOST, path: '/', tls: false }
    const visited = async (question: Record) => (await askAgent(socket, 'visit', { questions: [question] })).status
    for (const place of [
      { address: '169.254.169.254', port: 80 },
      { address: '127.0.0.1', port: 22 },
      { address: lab.description.edges.primary.address, port: 22 },
    ])
      for (const question of [visit, { ...visit, full: false }, { kind: 'certificate', host: HOST }])
        expect(await visited({ ...question, at: { ...place, limitMs: 10_000 } })).toBe(400)
    const own = { address: lab.description.edges.primary.address, port: lab.description.edges.primary.http }
    for (const path of ['/\r\nHost: evil', '/ HTTP/1.1\r\n\r\n', 'http://evil/', '/a b'])
      for (const at of [{}, { at: { ...own, limitMs: 10_000 } }, { at: { ...own, limitMs: 10_000 }, full: true }])
        expect(await visited({ ...visit, path, ...at })).toBe(400)
    expect(await visited({ ...visit, at: { ...own, limitMs: 10_000 } })).toBe(200)
  })
})

describe('hand-written sites', () => {
  const takesOver = { plan: PLAN }
  const adoption = (more: Record = {}) => itemOf(SITE, entryOf(SITE), { takesOver, ...more })
  let file: string

  beforeAll(async () => {
    await includeSites(lab)
    await writeSites(lab, [{ host: SITE, style: 0 }])
    file = siteFile(lab.description.edges.primary, SITE)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('location / {', 'location / { proxy_set_header X-Colour s3cret;'))
  }, 60_000)

  test('what they say is not told, only the names of directives', async () => {
    const { body } = await askAgent(socket, 'look', { site: { host: SITE, targets: [] } })
    expect(JSON.parse(body).answer.site).toMatchObject({ kind: 'site', lost: [{ directive: 'proxy_set_header' }] })
    expect(body).not.toContain('s3cret')
  })

  test('none is taken away without an entry of the same plan in its place', async () => {
    const [before, text] = [generation(), readFileSync(file, 'utf8')]
    const other = itemOf('one.lab.test', entryOf('one.lab.test'))
    const items = [
      itemOf(SITE, 'absent', { takesOver }),
      itemOf(SITE, 'same', { takesOver }),
      itemOf(SITE, 'released', { takesOver }),
      itemOf(SITE, { asIn: 1 }, { takesOver }),
      adoption({ takesOver: { plan: `plan_${'b'.repeat(26)}` } }),
      adoption({ wanted: entryOf(HOST) }),
      adoption({ wanted: entryOf(SITE, target({ port: 22 })) }),
      adoption({ takesOver: { plan: PLAN, file: '/etc/passwd' } }),
      adoption({ takesOver: {} }),
    ]
    for (const item of items)
      for (const all of [[item], [other, item], [item, other]])
        for (const run of [by('own'), {}]) expect(await changed(changeOf(all, run))).toEqual(REFUSED)
    expect(await changed(changeOf([adoption({ takesOver: { plan: PLAN, text: `sha256:${'0'.repeat(64)}` } })]))).toBe(
      'changed_meanwhile',
    )
    expect([generation(), readFileSync(file, 'utf8')]).toEqual([before, text])
    expect(existsSync(`${folder()}-adopted`)).toBe(false)
  })

  test.each(['../victim', '../../x', `${PLAN}/..`, `${PLAN}/../../victim`, '/etc', '.', '', 'plan_', `${PLAN}\n`])(
    'the folder of the plan %j is neither written nor removed',
    async (plan) => {
      const victim = join(folder(), '..', 'victim')
      mkdirSync(victim, { recursive: true })
      writeFileSync(join(victim, 'kept'), 'kept')
      const text = readFileSync(file, 'utf8')
      for (const wanted of [entryOf(SITE, { plan }), entryOf(SITE), 'before', 'absent', 'same'])
        for (const run of [by('own'), {}])
          expect(await changed(changeOf([itemOf(SITE, wanted, { takesOver: { plan } })], run))).toEqual(REFUSED)
      expect(readFileSync(join(victim, 'kept'), 'utf8')).toBe('kept')
      expect(readFileSync(file, 'utf8')).toBe(text)
    },
  )

  test('what a run has taken out is put back by that run alone, and not taken out again over what was written since', async () => {
    const text = readFileSync(file, 'utf8')
    expect(await changed(changeOf([adoption()], by('own')))).toBe('serving')
    const after = readFileSync(file, 'utf8')
    expect(after).not.toBe(text)
    // An undo has the fence of the host, its plan and the run that made the change.
    const undo = (host: string) => itemOf(host, 'before', { takesOver })
    for (const message of [
      changeOf([undo(SITE)]),
      changeOf([undo(SITE)], by('other')),
      changeOf([undo(HOST)], by('own')),
      changeOf([undo(HOST)], by('other')),
      changeOf([{ ...undo(SITE), fence: { host: HOST, epoch: 1, number: 1 } }], by('own')),
    ]) {
      await changed(message)
      expect(readFileSync(file, 'utf8')).toBe(after)
    }
    // Nobody else takes a site out by the record of this one.
    const foreign = itemOf(HOST, entryOf(HOST), { takesOver })
    expect(await changed(changeOf([foreign], by('own')))).toBe('change_invalid')
    expect(await changed(changeOf([undo(SITE)], by('own')))).toBe('serving')
    expect(readFileSync(file, 'utf8')).toBe(text)

    expect(await changed(changeOf([adoption()], by('own')))).toBe('serving')
    writeFileSync(file, text)
    for (const message of [changeOf([adoption()]), changeOf([adoption()], by('other'))])
      expect(await changed(message)).toBe('changed_meanwhile')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('an edge whose own configuration does not allow it keeps them', async () => {
    const closed = agents.agents['73']?.socket ?? ''
    const kept = siteFile(lab.description.edges.secondary, SITE)
    const text = readFileSync(kept, 'utf8')
    const found = await askAgent(closed, 'look', { site: { host: SITE, targets: [] } })
    expect(JSON.parse(found.body)).toEqual({ answer: { site: { kind: 'off' } } })
    for (const run of [by('own'), {}]) expect(await changed(changeOf([adoption()], run), closed)).toBe('change_invalid')
    await changed(changeOf([itemOf(SITE, 'before', { takesOver })], by('own')), closed)
    expect(readFileSync(kept, 'utf8')).toBe(text)
  })
})

describe('former messages', () => {
  test('a repeated change is answered and not carried out again', { timeout: 60_000 }, async () => {
    const message = changeOf([itemOf('replay.lab.test', entryOf('replay.lab.test'))])
    expect(await changed(message)).toBe('serving')
    const after = generation()
    expect(await sent('replay.lab.test', 'absent')).toBe('serving')
    expect(await changed(message)).toBe('serving')
    expect(generation()).toBe((after ?? 0) + 1)
  })

  test('an older fence is refused, also when nothing was changed under the newer one', {
    timeout: 60_000,
  }, async () => {
    const host = 'fence.lab.test'
    const under = (number: number, wanted: unknown) => sent(host, wanted, { fence: { host, epoch: 1, number } })
    expect(await under(5, 'same')).toBe('serving')
    for (const wanted of [entryOf(host), 'absent', 'same', 'before', { asIn: 1 }])
      expect(await under(4, wanted)).toBe('fenced')
    expect(new PresentGeneration(folder()).find(host)).toBeUndefined()
    expect(await under(5, entryOf(host))).toBe('serving')
  })

  test('a change that its sender has given up is refused when it comes', async () => {
    for (const withdraw of [false, true]) {
      const message = changeOf([itemOf('late.lab.test', entryOf('late.lab.test'))])
      expect(await changed({ id: message.id, withdraw })).toBe('unknown')
      expect(await changed(message)).toBe('change_invalid')
    }
  })

  test('a change whose lease has ended is not entered', async () => {
    const message = changeOf([itemOf('lease.lab.test', entryOf('lease.lab.test'))], { heldForMs: 0 })
    const before = generation()
    expect(await changed(message)).toBe('late')
    expect(generation()).toBe(before)
  })
})

test('nothing of it is in the log but the refusals', () => {
  const log = readFileSync(agents.agents['23']?.logFile ?? '', 'utf8')
  expect(log).toContain('"event":"edge_message_refused"')
  expect(log).not.toMatch(/PRIVATE KEY|docker\.sock|"event":"edge_message_failed"|"event":"edge_change_failed"/)
})
