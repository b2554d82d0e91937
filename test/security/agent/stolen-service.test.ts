import { createHash, createPrivateKey, createPublicKey, randomBytes, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newKey } from '../../../src/edge/authority/authority.ts'
import { issueCertificate } from '../../../src/edge/authority/certificate.ts'
import { renderCertificate } from '../../../src/edge/config/render-certificate.ts'
import { recordOf, renderLines } from '../../../src/edge/config/render-lines.ts'
import { renderSite } from '../../../src/edge/config/render-site.ts'
import { PresentGeneration } from '../../../src/edge/generations/present.ts'
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

const linesOf = (host = HOST, target = `http://${backend}:3000`) =>
  renderLines(recordOf({ host, planId: PLAN, target, proof: 'b'.repeat(64) }))

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

interface Sent {
  readonly path: string
  readonly content: string | null
}

const changeOf = (files: readonly Sent[], more: Record<string, unknown> = {}) => ({
  id: randomBytes(16).toString('hex'),
  heldForMs: null,
  files: files.map((file) => ({ ...file, secret: false })),
  expected: files.map(({ path }) => ({ path, hash: null })),
  replacesLinks: false,
  mends: false,
  fences: [...new Set(files.flatMap(({ path }) => hostIn(path) ?? []))].map((host) => ({ host, epoch: 1, number: 1 })),
  ...more,
})

/** The same, which expects what stands. */
async function changeNow(files: readonly Sent[]) {
  const { body } = await askAgent(
    socket,
    'hash',
    files.map(({ path }) => path),
  )
  return changeOf(files, { expected: JSON.parse(body).answer })
}

const hostIn = (path: string): string | undefined =>
  path === `adopted/${PLAN}` ? SITE : /([a-z0-9-]+\.lab\.test)/.exec(path)?.[1]

/** The last line of the answer. */
async function changed(message: unknown, at = socket): Promise<unknown> {
  const { status, body } = await askAgent(at, 'change', message)
  return status === 200 ? (JSON.parse(body.trim().split('\n').at(-1) ?? '') as { verdict: unknown }).verdict : status
}

const refusedAs = (kind: string) =>
  expect.objectContaining({ state: 'refused', fault: expect.objectContaining({ kind }) })

describe('paths', () => {
  test.each([
    '../../../../etc/passwd',
    'entries/../../../../etc/passwd',
    '/etc/passwd',
    'drawbridge.conf',
    '.fences',
    'hosts/../../nginx.conf',
    'released/../../x.conf',
    'entries/a\nb.lab.test',
    'tls/keys/../../x.map',
  ])('%j is neither read nor written', async (path) => {
    const before = generation()
    for (const verb of ['read', 'hash']) expect((await askAgent(socket, verb, [path])).status).toBe(400)
    expect(await changed(changeOf([{ path, content: 'server { listen 9999; }' }]))).toEqual(refusedAs('change_invalid'))
    expect(await changed(changeOf([{ path, content: null }]))).toEqual(refusedAs('change_invalid'))
    expect(generation()).toBe(before)
  })

  test('files that nginx does not read are not looked at', async () => {
    expect((await askAgent(socket, 'load-state', ['/etc/shadow'])).status).toBe(400)
    expect((await askAgent(socket, 'load-state', [join(folder(), 'current/../../../../etc/shadow')])).status).toBe(400)
  })
})

describe('entries', () => {
  const cases: [string, (text: string) => string][] = [
    ['a line more', (text) => `${text}http include /etc/passwd;\n`],
    [
      'a directive behind the name',
      (text) => text.replace(`server_name ${HOST};`, `server_name ${HOST}; return 200 x;`),
    ],
    ['a variable as backend', (text) => text.replace(`http://${backend}:3000`, 'http://$http_x_target')],
    ['a newline in the backend', (text) => text.replace(':3000;', ':3000;\nbackend evil.test http://1.1.1.1:80;')],
    ['a file as backend', (text) => text.replace(`http://${backend}:3000`, 'http://unix:/var/run/docker.sock')],
    ['a backend that is not allowed', (text) => text.replace(backend, '169.254.169.254')],
    ['a port that is not allowed', (text) => text.replace(':3000;', ':22;')],
    ['another host', (text) => text.replaceAll(HOST, 'bank.lab.test')],
    ['a wildcard', (text) => text.replaceAll(HOST, '*.lab.test')],
    ['a plan that is none', (text) => text.replace(PLAN, 'plan_$(id)')],
    ['an answer with text', (text) => text.replace(/ [0-9a-f]{32};\n/, ' "$request_body";\n')],
    [
      'a challenge with text',
      (text) => `${text}challenge "${HOST} /.well-known/acme-challenge/x" "$ssl_client_cert";\n`,
    ],
    ['another brace', (text) => `${text}https }\n`],
    ['no line break at the end', (text) => text.slice(0, -1)],
  ]
  test.each(cases)('%s: nginx is not given it', async (_, spoil) => {
    const before = generation()
    const content = spoil(linesOf())
    expect(content).not.toBe(linesOf())
    expect(await changed(changeOf([{ path: `entries/${HOST}`, content }]))).toEqual(refusedAs('change_invalid'))
    expect(generation()).toBe(before)
  })

  test('blocks are judged as lines are', async () => {
    const content = `server { listen 80; server_name ${HOST}; location / { root /; } }\n`
    expect(await changed(changeOf([{ path: `hosts/${HOST}.conf`, content }]))).toEqual(refusedAs('change_invalid'))
    expect(await changed(changeOf([{ path: `released/${HOST}.conf`, content }]))).toEqual(refusedAs('change_invalid'))
    expect(existsSync(`${folder()}-released/${HOST}.conf`)).toBe(false)
  })

  // Row 36 of the threats: text hidden beside what is judged.
  test('one path twice is refused, whichever of the two texts is an entry', async () => {
    const before = generation()
    const path = `entries/${HOST}`
    const [good, bad] = [linesOf(), `${linesOf()}http include /etc/passwd;\n`].map((content) => ({ path, content }))
    if (!good || !bad) throw new Error('unreachable')
    for (const files of [
      [bad, good],
      [good, bad],
      [good, good],
      [{ path, content: null }, good],
    ]) {
      expect(await changed(changeOf(files))).toEqual(refusedAs('change_invalid'))
      expect((await askAgent(socket, 'try-out', changeOf(files).files)).body).toContain('"kind":"change_invalid"')
    }
    expect(generation()).toBe(before)
  })

  test('one member twice, or one host with two fences, is refused', async () => {
    const message = changeOf([{ path: `entries/${HOST}`, content: linesOf() }])
    const text = JSON.stringify(message)
    expect((await askAgent(socket, 'change', text.replace('{', '{"files":[],'))).status).toBe(400)
    const fences = [1, 2].map((number) => ({ host: HOST, epoch: 1, number }))
    expect(await changed({ ...message, fences })).toEqual(refusedAs('change_invalid'))
  })

  test('a change of a host without its fence is refused', async () => {
    const message = changeOf([{ path: `entries/${HOST}`, content: linesOf() }])
    for (const fences of [[], [{ host: 'other.lab.test', epoch: 1, number: 1 }]])
      expect(await changed({ ...message, id: randomBytes(16).toString('hex'), fences })).toEqual(
        refusedAs('change_invalid'),
      )
    const removal = changeOf([{ path: `tls/hosts/${HOST}.map`, content: null }], { fences: [] })
    expect(await changed(removal)).toEqual(refusedAs('change_invalid'))
  })

  test('a certificate must be for the host and have its own key', async () => {
    const [own, other] = [pairFor(HOST), pairFor('bank.lab.test')]
    const files = (host: string, pair: typeof own) =>
      renderCertificate(host, pair).map(({ path, content }) => ({ path, content }))
    expect(await changed(changeOf(files(HOST, other)))).toEqual(refusedAs('change_invalid'))
    expect(await changed(changeOf(files(HOST, { ...own, keyPem: other.keyPem })))).toEqual(refusedAs('change_invalid'))
    expect(
      await changed(changeOf([{ path: `tls/hosts/${HOST}.map`, content: `${HOST} ${'0'.repeat(32)};\n` }])),
    ).toEqual(refusedAs('change_invalid'))
  })
})

describe('options', () => {
  const listening = () => {
    const named = { passwords: {}, authorities: {}, snippets: { ours: snippet } }
    const { address, http, https } = lab.description.edges.primary
    return { listen: [address], ports: { http, https }, named }
  }
  const blockOf = (more: object = { options: OPTIONS }) => {
    const site = { host: HOST, planId: PLAN, target: `http://${backend}:3000`, proof: 'b'.repeat(64), ...more }
    return renderSite(site, listening(), 'lines').find(({ path }) => path === `hosts/${HOST}.conf`)?.content ?? ''
  }
  const sent = (content: string) => changed(changeOf([{ path: `hosts/${HOST}.conf`, content }]))

  const cases: [string, (text: string) => string][] = [
    ['another value in a directive', (text) => text.replace('client_max_body_size 5m;', 'client_max_body_size 6m;')],
    ['another value in the comment', (text) => text.replace('"maxBody":"5m"', '"maxBody":"6m"')],
    ['text in both', (text) => text.replaceAll('5m', '5m; } server { listen 81; location / { root /; } } #')],
    ['a value that no grammar has', (text) => text.replaceAll('5m', '5t')],
    ['a variable', (text) => text.replaceAll('5m', '$http_x')],
    ['another network in the comment', (text) => text.replace('["10.0.0.0/8"]', '["0.0.0.0/0"]')],
    ['a network less', (text) => text.replace('    allow 10.0.0.0/8;\n', '')],
    ['another file as snippet', (text) => text.replace(`include ${snippet};`, 'include /etc/passwd;')],
    ['a snippet that edge.yaml does not name', (text) => text.replaceAll('ours', 'theirs')],
    ['a snippet by its path', (text) => text.replaceAll('"ours"', '"/etc/passwd"')],
    ['a directive more', (text) => text.replace('location / {', 'location / {\n    root /;')],
    ['an option that is none', (text) => text.replace('"maxBody"', '"raw":"x","maxBody"')],
    ['two comments', (text) => text.replace('# Options:', '# Options: {}\n# Options:')],
    ['NUL', (text) => text.replaceAll('5m', '5m\0')],
  ]
  test.each(cases)('%s: nginx is not given it', async (_, spoil) => {
    const before = generation()
    const content = spoil(blockOf())
    expect(content).not.toBe(blockOf())
    expect(await sent(content)).toEqual(refusedAs('change_invalid'))
    expect(generation()).toBe(before)
  })

  test('a further backend must be allowed as well', async () => {
    const more = (target: string) => ({ options: OPTIONS, furtherTargets: [target] })
    expect(await sent(blockOf(more('http://169.254.169.254:80')))).toEqual(refusedAs('change_invalid'))
  })

  test('what the renderer makes of valid options is taken', async () => {
    const more = { options: OPTIONS, furtherTargets: [`http://${backend}:3001`] }
    expect(await sent(blockOf(more))).toEqual({ state: 'done' })
  })
})

describe('what is not the service’s', () => {
  const released = (ending: string) => join(`${folder()}-released`, `gone.lab.test.${ending}`)

  test('files beside the folder of the edge are not read, and no key is', async () => {
    const id = '0'.repeat(32)
    for (const path of ['conf', 'crt', 'key'].map((ending) => `released/gone.lab.test.${ending}`))
      expect((await askAgent(socket, 'read', [path])).status).toBe(400)
    expect((await askAgent(socket, 'read', [`tls/keys/${id}.map`])).body).toContain('upgrade the service')
    for (const path of [`tls/keys/${id}.map`, `tls/more/${id}.key-2.map`, `adopted/${PLAN}`])
      expect((await askAgent(socket, 'read', [path])).status).toBe(400)
  })

  test('a released file is neither removed nor replaced, also not in the guise of an undo', async () => {
    mkdirSync(`${folder()}-released`, { recursive: true })
    for (const ending of ['conf', 'crt', 'key']) writeFileSync(released(ending), `# ${ending} of an administrator\n`)
    const expected = ['conf', 'crt', 'key'].map((ending) => ({
      path: `released/gone.lab.test.${ending}`,
      hash: createHash('sha256')
        .update(readFileSync(released(ending)))
        .digest('hex'),
    }))
    const entry = { path: 'entries/gone.lab.test', content: linesOf('gone.lab.test') }
    for (const { path } of expected)
      for (const more of [[], [entry]]) {
        const message = { ...changeOf([{ path, content: null }, ...more]), expected }
        expect(await changed(message)).toEqual(refusedAs('change_invalid'))
      }
    for (const ending of ['conf', 'crt', 'key']) expect(readFileSync(released(ending), 'utf8')).toContain(ending)
  })

  test('a host of another zone is not taken from whoever serves it', async () => {
    const host = 'shop.customer.test'
    const message = changeOf([{ path: `entries/${host}`, content: linesOf(host) }], {
      fences: [{ host, epoch: 1, number: 1 }],
    })
    expect(await changed(message)).toEqual(refusedAs('change_invalid'))
    const pair = pairFor(host)
    const fenced = { fences: [{ host, epoch: 1, number: 1 }] }
    const map = renderCertificate(host, pair).map(({ path, content }) => ({ path, content }))
    expect(await changed(changeOf(map, fenced))).toEqual(refusedAs('change_invalid'))
    const fence = await askAgent(socket, 'fence', fenced.fences)
    expect(JSON.parse(fence.body)).toMatchObject({ fault: { kind: 'change_invalid' } })
    expect(await changed(changeOf([], fenced))).toEqual(refusedAs('change_invalid'))
  })

  test('no certificate is left among the released files without the block of its host', async () => {
    const { certificatePem, keyPem } = pairFor(HOST)
    const files = Object.entries({ crt: certificatePem, key: keyPem }).map(([ending, content]) => ({
      path: `released/${HOST}.${ending}`,
      content,
    }))
    expect(await changed(changeOf(files))).toEqual(refusedAs('change_invalid'))
    expect(existsSync(join(`${folder()}-released`, `${HOST}.key`))).toBe(false)
  })
})

describe('messages', () => {
  test('what is not of the form of its verb is refused before it is looked at', async () => {
    const fits = changeOf([{ path: `entries/${HOST}`, content: linesOf() }])
    for (const message of [
      '{',
      '[]',
      'null',
      { ...fits, shell: 'id' },
      { ...fits, id: '../../x' },
      { ...fits, files: [{ path: 'x', content: 'x', secret: false, mode: 0o777 }] },
      { ...fits, fences: [{ host: HOST, epoch: -1, number: 1 }] },
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
    expect((await askAgent(socket, 'where', { host: 'a'.repeat(300) })).status).toBe(400)
    const long = changeOf([{ path: `entries/${HOST}`, content: 'x'.repeat(2_000_000) }])
    expect((await askAgent(socket, 'change', long)).status).toBe(400)
  })

  test('the agent is no way into the network', async () => {
    const visit = { host: HOST, path: '/', tls: false, full: false, limitMs: 1_000 }
    for (const listenAddress of [
      { address: '169.254.169.254', port: 80 },
      { address: '127.0.0.1', port: 22 },
      { address: lab.description.edges.primary.address, port: 22 },
    ])
      expect((await askAgent(socket, 'visit', { ...visit, listenAddress })).status).toBe(400)
    const own = { address: lab.description.edges.primary.address, port: lab.description.edges.primary.http }
    for (const path of ['/\r\nHost: evil', '/ HTTP/1.1\r\n\r\n', 'http://evil/', '/a b'])
      expect((await askAgent(socket, 'visit', { ...visit, path, listenAddress: own })).status).toBe(400)
  })
})

describe('hand-written sites', () => {
  const entry = () => ({ path: `entries/${SITE}`, content: linesOf(SITE) })
  const record = (content: string | null, planId = PLAN) => ({ path: `adopted/${planId}`, content })
  let file: string

  beforeAll(async () => {
    await includeSites(lab)
    await writeSites(lab, [{ host: SITE, style: 0 }])
    file = siteFile(lab.description.edges.primary, SITE)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('location / {', 'location / { proxy_set_header X-Colour s3cret;'))
  }, 60_000)

  const ownRecord = async (): Promise<string> => {
    const { body } = await askAgent(socket, 'taken-out', { host: SITE, planId: PLAN })
    return JSON.parse(body).answer[0].content
  }

  test('what they say is not told, only the names of directives', async () => {
    const { body } = await askAgent(socket, 'find-site', { host: SITE, targets: [] })
    expect(JSON.parse(body).answer).toMatchObject({ kind: 'site', lost: [{ directive: 'proxy_set_header' }] })
    expect(body).not.toContain('s3cret')
    expect(await ownRecord()).not.toContain('s3cret')
  })

  test('none is taken away without an entry in its place, and no other file is', async () => {
    const [before, text] = [generation(), readFileSync(file, 'utf8')]
    const own = await ownRecord()
    const records = [
      [record(own)],
      [record(own), { path: `entries/${HOST}`, content: linesOf() }],
      [record(own), { path: `entries/${SITE}`, content: null }],
      [record(own.replace(file, lab.description.edges.primary.config)), entry()],
      [record(own.replace(SITE, HOST)), entry()],
      [record('{"host":"../x"}'), entry()],
      [record('{'), entry()],
    ]
    for (const files of records) expect(await changed(changeOf(files))).toEqual(refusedAs('change_invalid'))
    for (const planId of ['../x', 'plan_', `${PLAN}/..`])
      expect((await askAgent(socket, 'taken-out', { host: SITE, planId })).status).toBe(400)
    expect([generation(), readFileSync(file, 'utf8')]).toEqual([before, text])
  })

  test('a record that an adoption has left is not carried out again over what the administrator wrote since', async () => {
    const own = await ownRecord()
    // To try a change out writes nothing that an undo could take away.
    expect((await askAgent(socket, 'try-out', changeOf([record(own), entry()]).files)).status).toBe(200)
    expect(existsSync(join(folder(), '.outside'))).toBe(false)
    expect(await changed(changeOf([record(own), entry()]))).toEqual({ state: 'done' })
    const after = readFileSync(file, 'utf8')
    // An undo has a fence as every change has.
    for (const fences of [[], [{ host: HOST, epoch: 1, number: 1 }]])
      expect(await changed({ ...(await changeNow([record(null)])), fences })).toEqual(refusedAs('change_invalid'))
    expect(readFileSync(file, 'utf8')).toBe(after)
    // The undo of this change, by the run that made it.
    expect(await changed(await changeNow([record(null), { path: `entries/${SITE}`, content: null }]))).toEqual({
      state: 'done',
    })
    const before = readFileSync(file, 'utf8')
    expect(before).not.toBe(after)
    expect(await changed(changeOf([record(own), entry()]))).toEqual({ state: 'done' })
    writeFileSync(file, before)
    expect(await changed(await changeNow([record(own)]))).toEqual(refusedAs('change_invalid'))
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('an edge whose own configuration does not allow it keeps them', async () => {
    const closed = agents.agents['73']?.socket ?? ''
    const kept = siteFile(lab.description.edges.secondary, SITE)
    const text = readFileSync(kept, 'utf8')
    const found = await askAgent(closed, 'find-site', { host: SITE, targets: [] })
    expect(JSON.parse(found.body)).toEqual({ answer: { kind: 'off' } })
    const taken = await askAgent(closed, 'taken-out', { host: SITE, planId: PLAN })
    expect(JSON.parse(taken.body)).toMatchObject({ fault: { kind: 'change_invalid' } })
    const hash = (of: string) => `sha256:${createHash('sha256').update(of).digest('hex')}`
    const after = `# The site of ${SITE} was adopted by Drawbridge. Nothing else was in this file.\n`
    const included = [join(dirname(lab.description.edges.secondary.config), 'enabled', SITE)]
    const made = JSON.stringify(
      { host: SITE, files: [{ file: kept, included, before: hash(text), after: hash(after) }] },
      null,
      2,
    )
    expect(await changed(changeOf([record(made), entry()]), closed)).toEqual(refusedAs('change_invalid'))
    expect(readFileSync(kept, 'utf8')).toBe(text)
  })
})

describe('former messages', () => {
  test('a repeated change is answered and not carried out again', { timeout: 60_000 }, async () => {
    const message = changeOf([{ path: 'entries/replay.lab.test', content: linesOf('replay.lab.test') }])
    expect(await changed(message)).toEqual({ state: 'done' })
    const after = generation()
    expect(await changed(message)).toEqual({ state: 'done' })
    expect(generation()).toBe(after)
  })

  test('an older fence is refused, also when nothing was changed under the newer one', {
    timeout: 60_000,
  }, async () => {
    const host = 'fence.lab.test'
    const under = (number: number) =>
      changeOf([{ path: `entries/${host}`, content: linesOf(host) }], { fences: [{ host, epoch: 1, number }] })
    expect((await askAgent(socket, 'fence', [{ host, epoch: 1, number: 5 }])).status).toBe(200)
    expect(await changed(under(4))).toEqual(refusedAs('fenced'))
    expect(new PresentGeneration(folder()).content(`entries/${host}`)).toBeNull()
    expect(await changed(under(5))).toEqual({ state: 'done' })
  })

  test('a change that its sender has given up is refused when it comes', async () => {
    const message = changeOf([{ path: 'entries/late.lab.test', content: linesOf('late.lab.test') }])
    const { body } = await askAgent(socket, 'verdict', { id: message.id })
    expect(JSON.parse(body)).toEqual({ answer: { state: 'unknown' } })
    expect(await changed(message)).toEqual(refusedAs('change_invalid'))
  })

  test('a change whose lease has ended is not entered', async () => {
    const message = changeOf([{ path: 'entries/lease.lab.test', content: linesOf('lease.lab.test') }], { heldForMs: 0 })
    const before = generation()
    expect(await changed(message)).toEqual({ state: 'late' })
    expect(generation()).toBe(before)
  })
})

test('nothing of it is in the log but the refusals', () => {
  const log = readFileSync(agents.agents['23']?.logFile ?? '', 'utf8')
  expect(log).toContain('"event":"edge_message_refused"')
  expect(log).not.toMatch(/PRIVATE KEY|docker\.sock|"event":"edge_message_failed"|"event":"edge_change_failed"/)
})
