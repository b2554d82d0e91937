import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AcmeIssuerOptions } from '../../../src/certificates/acme/issuer.ts'
import type { ChallengeResponder } from '../../../src/certificates/contract.ts'
import { certificateInventory } from '../../../src/certificates/stock/inventory.ts'
import { issuedFolder } from '../../../src/certificates/stock/issued-files.ts'
import { loadPair } from '../../../src/certificates/stock/pair.ts'
import { type AcmeFault, authorizationAnswer } from '../../support/acme/acme-fault-proxy.ts'
import { filesBelow, HOST, issuingBench, ZONE } from '../../support/acme/issuing.ts'

const { bench, issuer, faultOf, ordersPlaced } = issuingBench()

describe('a certificate is issued', () => {
  test('by dns-01, is found by the inventory, and leaves no challenge behind', async () => {
    const issued = await issuer().issue([HOST], bench().site.responder)
    const folder = join(bench().state.path, 'certificates', HOST)
    expect(issued).toMatchObject({
      names: [HOST],
      certificateFile: join(folder, 'fullchain.pem'),
      keyFile: join(folder, 'privkey.pem'),
    })
    const found = await certificateInventory([], { issued: issuedFolder(bench().state.path) }).covering(
      HOST,
      Date.now() + 1_000,
    )
    expect(found).toEqual({ ...issued, byWildcard: false })
    const { certificatePem, keyPem, fingerprint } = await loadPair(issued)
    expect(certificatePem.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(1)
    expect(certificatePem).not.toContain('PRIVATE')
    const leaf = new X509Certificate(certificatePem)
    expect(leaf.fingerprint256).toBe(fingerprint)
    expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
    expect(keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----/)
    expect(await bench().site.challengesOf(HOST)).toBe(0)
    expect(bench().orders.records.size).toBe(0)
    // Every response brings the nonce for the next request.
    expect(bench().proxy.seen.filter(({ path }) => path === '/nonce-plz')).toHaveLength(1)
  })

  test('for a name and its wildcard at once: two proofs stand at one name', async () => {
    const names = [`*.wild.${ZONE}`, `wild.${ZONE}`]
    let most = 0
    const counting: ChallengeResponder = {
      ...bench().site.responder,
      async present(...proof) {
        await bench().site.responder.present(...proof)
        most = Math.max(most, await bench().site.challengesOf(`wild.${ZONE}`))
      },
    }
    const issued = await issuer().issue(names, counting)
    expect(issued.names.toSorted()).toEqual(names)
    expect(issued.certificateFile).toBe(
      join(bench().state.path, 'certificates', `_wildcard.wild.${ZONE}`, 'fullchain.pem'),
    )
    expect(most).toBe(2)
    expect(await bench().site.challengesOf(`wild.${ZONE}`)).toBe(0)
  })

  test('by http-01, through an edge', async () => {
    const answers = new Map<string, string>()
    const address = '127.77.3.1'
    const edge = createServer((request, response) => {
      const answer = answers.get(`${request.headers.host?.split(':')[0]}${request.url}`)
      response.writeHead(answer ? 200 : 404).end(answer)
    })
    await new Promise<void>((listening) => edge.listen(8080, address, listening))
    try {
      await bench().site.provider.create([{ name: `web.${ZONE}`, type: 'A', ttl: 60, value: address }])
      const path = (host: string, token: string) => `${host}/.well-known/acme-challenge/${token}`
      const responder: ChallengeResponder = {
        type: 'http-01',
        present: async (host, token, answer) => void answers.set(path(host, token), answer),
        withdraw: async (host, token) => void answers.delete(path(host, token)),
      }
      expect((await issuer().issue([`web.${ZONE}`], responder)).names).toEqual([`web.${ZONE}`])
      expect(answers.size).toBe(0)
      expect(await faultOf(issuer().issue([`*.web.${ZONE}`], responder))).toMatchObject({ kind: 'rejected' })
    } finally {
      edge.closeAllConnections()
      edge.close()
    }
  })

  test('again for the same name: another key, in the same place, under the same account', async () => {
    const first = await issuer().issue([HOST], bench().site.responder)
    const before = await loadPair(first)
    const second = await issuer().issue([HOST], bench().site.responder)
    expect(second.certificateFile).toBe(first.certificateFile)
    expect(second.fingerprint).not.toBe(first.fingerprint)
    expect((await loadPair(second)).keyPem).not.toBe(before.keyPem)
    await expect(loadPair(first)).rejects.toThrow(/fullchain\.pem has another certificate than before/)
    expect(
      bench()
        .proxy.seen.filter(({ path }) => path === '/sign-me-up')
        .map(({ status }) => status),
    ).toEqual([201, 200])
    const [aside, ...others] = filesBelow(issuedFolder(bench().state.path)).filter(
      (name) => !/previous-\w+\//.test(name),
    )
    expect(aside).toMatch(/^\.previous-/)
    expect(others).toEqual([HOST, `${HOST}/fullchain.pem`, `${HOST}/privkey.pem`])
    const inventory = certificateInventory([], { issued: issuedFolder(bench().state.path) })
    expect(await inventory.withFingerprint(first.fingerprint)).toMatchObject({ issued: true })
    expect(await inventory.covering(HOST, Date.now())).toMatchObject({ fingerprint: second.fingerprint })
  })

  test('once for calls at the same time', async () => {
    const one = issuer()
    const [a, b] = await Promise.all([
      one.issue([HOST], bench().site.responder),
      one.issue([HOST], bench().site.responder),
    ])
    expect(a).toEqual(b)
    expect(ordersPlaced()).toBe(1)
    await one.issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(2)
  })

  test('for us alone, whatever the umask', async () => {
    const before = process.umask(0o000)
    try {
      await issuer().issue([HOST], bench().site.responder)
    } finally {
      process.umask(before)
    }
    const modes = filesBelow(bench().state.path).map((file) => {
      const entry = statSync(join(bench().state.path, file))
      return `${entry.isDirectory() ? 'folder' : 'file'} ${(entry.mode & 0o777).toString(8)}`
    })
    expect(new Set(modes)).toEqual(new Set(['folder 700', 'file 600']))
    expect(filesBelow(bench().state.path).filter((file) => file.endsWith('.new'))).toEqual([])
  })
})

const orderAnswer = (status: string, authorizations: string[], finalize: string) => ({
  status,
  authorizations,
  finalize,
  identifiers: [{ type: 'dns', value: HOST }],
})

describe('an authority that says no', () => {
  const problem = (type: string, status: number, headers = {}): AcmeFault => ({
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: 'canary-of-the-authority', status }),
  })
  const faultWhen = async (path: string, fault: AcmeFault, more: Partial<AcmeIssuerOptions> = {}) => {
    bench().proxy.goWrong((asked) => (asked.startsWith(path) ? fault : undefined))
    const refused = await faultOf(issuer(more).issue([HOST], bench().site.responder))
    expect(refused.message).not.toContain('canary')
    expect(await bench().site.challengesOf(HOST)).toBe(0)
    return refused
  }

  test('too many orders: the fault has the Retry-After, and nothing waits or is repeated', async () => {
    const limited = problem('rateLimited', 429, { 'retry-after': '3600' })
    expect(await faultWhen('/order-plz', limited)).toMatchObject({
      kind: 'rate_limited',
      retryAfter: 3600,
      message: expect.stringContaining('(rateLimited)'),
    })
    expect(bench().proxy.seen.filter(({ path }) => path === '/order-plz')).toHaveLength(1)
  })

  test.each<[string, string, AcmeFault, object]>([
    ['a name', '/order-plz', problem('rejectedIdentifier', 403), { kind: 'rejected' }],
    ['by CAA, at the end', '/finalize-order', problem('caa', 403), { kind: 'rejected' }],
    ['the account', '/sign-me-up', problem('unsupportedContact', 400), { kind: 'rejected' }],
    ['for now', '/order-plz', problem('serverInternal', 503), { kind: 'unavailable' }],
    [
      'elsewhere',
      '/order-plz',
      { status: 302, headers: { location: 'https://127.0.0.1:9/' } },
      { kind: 'unavailable' },
    ],
    ['in no words', '/order-plz', { status: 400, body: 'canary' }, { kind: 'rejected' }],
    ['in strange words', '/order-plz', { status: 201, body: 'canary' }, { kind: 'unavailable' }],
    [
      'with no order',
      '/order-plz',
      { status: 201, headers: { location: 'https://ca.test/1' }, body: '{}' },
      { kind: 'unavailable' },
    ],
    ['with a token that is a path', '/authZ', authorizationAnswer(HOST, '../canary'), { kind: 'rejected' }],
    ['with a challenge for another name', '/authZ', authorizationAnswer(`www.${ZONE}`, 'token'), { kind: 'rejected' }],
    ['with no certificate', '/certZ', { status: 200, body: '{"canary":1}' }, { kind: 'unavailable' }],
    ['as no directory', '/dir', { status: 200, body: '{"canary":1}' }, { kind: 'unavailable' }],
  ])('%s', async (_, path, answer, expected) => {
    expect(await faultWhen(path, answer)).toMatchObject(expected)
    expect(bench().proxy.seen.filter((request) => request.path.startsWith(path))).toHaveLength(1)
  })

  test.each<[string, string, (own: string, foreign: string) => object]>([
    [
      'the directory names for new orders',
      '/dir',
      (own, foreign) => ({
        newNonce: `${own}/nonce-plz`,
        newAccount: `${own}/sign-me-up`,
        newOrder: `${foreign}/order-plz`,
      }),
    ],
    ['an order names for its end', '/order-plz', (_, foreign) => orderAnswer('ready', [], `${foreign}/finalize`)],
    [
      'an order names for its proofs',
      '/order-plz',
      (own, foreign) => orderAnswer('pending', [`${foreign}/authz`], `${own}/finalize`),
    ],
  ])('an address of another origin that %s is never asked', async (_, path, answer) => {
    let connections = 0
    const stranger = createListener((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const foreign = `https://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    const own = new URL(bench().proxy.directory).origin
    const headers = { location: `${own}/my-order/1` }
    const body = JSON.stringify(answer(own, foreign))
    const fault = await faultWhen(path, { status: path === '/dir' ? 200 : 201, headers, body })
    stranger.close()
    expect(fault).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('another origin') })
    expect(connections).toBe(0)
  })

  const PATHS = ['/dir', '/nonce-plz', '/sign-me-up', '/order-plz', '/authZ', '/chalZ', '/finalize-order', '/certZ']
  const ASKED = process.env.CAMPAIGN ? PATHS : ['/dir', '/order-plz', '/certZ']
  test.each(ASKED)('nothing, at %s', async (path) => {
    expect(await faultWhen(path, 'hang', { limits: { requestMs: 300, pollMs: 20 } })).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('did not answer in time'),
    })
  })

  test('nothing about an order, for too long', async () => {
    const undecided = await startUndecided()
    expect(await undecided).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('within 0.3 s') })
    expect(bench().orders.records.size).toBe(1)
  })
  const startUndecided = async () => {
    const pending: ChallengeResponder = { ...bench().site.responder, present: async () => undefined }
    const withoutAsking = (path: string): AcmeFault | undefined =>
      path.startsWith('/chalZ') ? { status: 200, body: '{"status":"processing"}' } : undefined
    bench().proxy.goWrong(withoutAsking)
    return faultOf(issuer({ limits: { decisionMs: 300, pollMs: 20 } }).issue([HOST], pending))
  }

  test('to come again after the time limit: the order is not polled before that', async () => {
    const { origin } = new URL(bench().proxy.directory)
    const order = { status: 'processing', authorizations: [], finalize: `${origin}/finalize-order/1` }
    const later = { status: 200, headers: { 'retry-after': '3600' }, body: JSON.stringify(order) }
    expect(await faultWhen('/my-order', later)).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('did not decide'),
    })
    expect(bench().proxy.seen.filter(({ path }) => path.startsWith('/my-order'))).toHaveLength(1)
    expect(bench().orders.records.size).toBe(1)
  })

  test('that the proof is not there: the order is over and the next call places another', async () => {
    const silent: ChallengeResponder = { ...bench().site.responder, present: async () => undefined }
    expect(await faultOf(issuer().issue([HOST], silent))).toMatchObject({
      kind: 'challenge_failed',
      message: expect.stringMatching(/did not accept the challenge for app\.issue\.test \((unauthorized|dns)\)/),
    })
    expect(bench().orders.records.size).toBe(0)
    await issuer().issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(2)
  })

  test('nobody we trust', async () => {
    const untrusting = issuer({ caFile: undefined })
    const refused = await faultOf(
      issuer()
        .issue([HOST], bench().site.responder)
        .then(() => untrusting.issue([HOST], bench().site.responder)),
    )
    expect(refused).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('SELF_SIGNED') })
    expect(
      await faultOf(issuer({ caFile: join(bench().state.path, 'none') }).issue([HOST], bench().site.responder)),
    ).toMatchObject({
      kind: 'local',
      message: expect.stringContaining('none'),
    })
  })
})

describe('an authority that is in a bad way', () => {
  // Pebble takes seconds to start. These are the last tests: nobody needs the first Pebble any more.
  test('refuses every second nonce: the request is sent again', async () => {
    await bench().site.startPebble({ PEBBLE_AUTHZREUSE: '100', PEBBLE_WFE_NONCEREJECT: '50' })
    await issuer().issue([HOST, `*.${HOST}`], bench().site.responder)
    expect(bench().proxy.seen.filter(({ status }) => status === 400).length).toBeGreaterThan(0)
    expect(ordersPlaced()).toBe(1)
    // The rejection brings the nonce for the next attempt. At most two requests, one per name, are sent at a time.
    expect(bench().proxy.seen.filter(({ path }) => path === '/nonce-plz').length).toBeLessThanOrEqual(2)
  })

  test('has a valid authorization for one name already: only for the other a proof is shown', async () => {
    const hosts: string[] = []
    const noting: ChallengeResponder = {
      ...bench().site.responder,
      present: (host, ...proof) => {
        hosts.push(host)
        return bench().site.responder.present(host, ...proof)
      },
    }
    await issuer().issue([HOST], noting)
    await issuer().issue([HOST, `www.${ZONE}`], noting)
    expect(hosts).toEqual([HOST, `www.${ZONE}`])
  })

  test('was restarted and has forgotten the account: it is registered again', async () => {
    const one = issuer()
    await one.issue([HOST], bench().site.responder)
    await bench().site.startPebble()
    expect((await one.issue([HOST], bench().site.responder)).names).toEqual([HOST])
    expect(ordersPlaced()).toBe(2)
  })

  test('is down', async () => {
    await bench().site.stopPebble()
    const direct = issuer({ directory: bench().site.directory })
    const fault = await faultOf(direct.issue([HOST], bench().site.responder))
    expect(fault).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/at https:.*\(ECONNREFUSED\)/) })
    await bench().site.startPebble()
    expect((await direct.issue([HOST], bench().site.responder)).names).toEqual([HOST])
  })
})
