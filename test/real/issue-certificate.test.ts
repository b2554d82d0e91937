import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AcmeIssuerOptions, acmeIssuer } from '../../src/certificates/acme-issuer.ts'
import { httpResponder } from '../../src/certificates/challenge-responders.ts'
import { type ChallengeResponder, IssueFault, type OrderBook } from '../../src/certificates/contract.ts'
import { certificateInventory } from '../../src/certificates/inventory.ts'
import { issuedFolder } from '../../src/certificates/issued-files.ts'
import { loadPair } from '../../src/certificates/pair.ts'
import { DnsWriteFault } from '../../src/dns/contract.ts'
import { type AcmeFault, type AcmeFaultProxy, startFaultProxy } from '../support/acme-fault-proxy.ts'
import { type AcmeSite, orderBook, startAcmeSite } from '../support/acme-site.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

/** No authorization comes back valid by chance, and no nonce is refused by chance, unless a test wants it so. */
const STEADY = { PEBBLE_AUTHZREUSE: '0', PEBBLE_WFE_NONCEREJECT: '0' }
const ZONE = 'issue.test'
const HOST = `app.${ZONE}`

let site: AcmeSite
let state: TempFolder
let proxy: AcmeFaultProxy
let orders: ReturnType<typeof orderBook>
let told: string[]
beforeAll(async () => {
  site = await startAcmeSite(ZONE, STEADY)
})
afterAll(() => site?.[Symbol.asyncDispose]())
beforeEach(async () => {
  state = tempFolder()
  proxy = await startFaultProxy(site.pebbleFolder, site.pebblePort)
  orders = orderBook()
  told = []
})
afterEach(async () => {
  await proxy[Symbol.asyncDispose]()
  state[Symbol.dispose]()
})

const issuer = (more: Partial<AcmeIssuerOptions> = {}) =>
  acmeIssuer({
    directory: proxy.directory,
    caFile: site.caFile,
    stateDir: state.path,
    orders,
    onProgress: ({ kind, detail }) => told.push(`${kind} ${detail}`),
    limits: { pollMs: 20 },
    ...more,
  })

/** How many orders Pebble has taken. */
const ordersPlaced = () => proxy.seen.filter(({ path, status }) => path === '/order-plz' && status === 201).length
const filesBelow = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()

/** What an issuing was refused with. No key may be anywhere in it. */
async function faultOf(issuing: Promise<unknown>): Promise<IssueFault> {
  const error = await issuing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  const keys = filesBelow(state.path).filter((file) => /key/.test(file) && statSync(join(state.path, file)).isFile())
  const secrets = keys.flatMap((file) => readFileSync(join(state.path, file), 'utf8').split('\n').filter(isKeyText))
  expect(secrets.length).toBeGreaterThan(0)
  for (const secret of secrets) expect(inspect(error, { depth: 20, showHidden: true }) + told).not.toContain(secret)
  if (!(error instanceof IssueFault)) throw new Error('no IssueFault', { cause: error })
  return error
}
const isKeyText = (line: string): boolean => line !== '' && !line.startsWith('-----')

/** A challenge whose address leads nowhere. */
const authorization = (value: string, token: string, status = 'pending'): AcmeFault => ({
  status: 200,
  body: JSON.stringify({
    status: 'pending',
    identifier: { type: 'dns', value },
    challenges: [{ type: 'dns-01', status, url: 'https://127.0.0.1:9/', token }],
  }),
})

describe('a certificate is issued', () => {
  test('by dns-01, is found by the inventory, and leaves no challenge behind', async () => {
    const issued = await issuer().issue([HOST], site.responder)
    const folder = join(state.path, 'certificates', HOST)
    expect(issued).toMatchObject({
      names: [HOST],
      certificateFile: join(folder, 'fullchain.pem'),
      keyFile: join(folder, 'privkey.pem'),
    })
    const found = await certificateInventory([issuedFolder(state.path)]).covering(HOST, Date.now() + 1_000)
    expect(found).toEqual({ ...issued, byWildcard: false })
    const { certificatePem, keyPem, fingerprint } = await loadPair(issued)
    expect(certificatePem.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(1)
    expect(certificatePem).not.toContain('PRIVATE')
    const leaf = new X509Certificate(certificatePem)
    expect(leaf.fingerprint256).toBe(fingerprint)
    expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
    expect(keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----/)
    expect(await site.challengesOf(HOST)).toBe(0)
    expect(orders.records.size).toBe(0)
  })

  test('for a name and its wildcard at once: two proofs stand at one name', async () => {
    const names = [`*.wild.${ZONE}`, `wild.${ZONE}`]
    let most = 0
    const counting: ChallengeResponder = {
      ...site.responder,
      async present(...proof) {
        await site.responder.present(...proof)
        most = Math.max(most, await site.challengesOf(`wild.${ZONE}`))
      },
    }
    const issued = await issuer().issue(names, counting)
    expect(issued.names.toSorted()).toEqual(names)
    expect(issued.certificateFile).toBe(join(state.path, 'certificates', `_wildcard.wild.${ZONE}`, 'fullchain.pem'))
    expect(most).toBe(2)
    expect(await site.challengesOf(`wild.${ZONE}`)).toBe(0)
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
      await site.provider.create([{ name: `web.${ZONE}`, type: 'A', ttl: 60, value: address }])
      const path = (host: string, token: string) => `${host}/.well-known/acme-challenge/${token}`
      const responder = httpResponder({
        publish: async (host, token, answer) => void answers.set(path(host, token), answer),
        withdraw: async (host, token) => void answers.delete(path(host, token)),
      })
      expect((await issuer().issue([`web.${ZONE}`], responder)).names).toEqual([`web.${ZONE}`])
      expect(answers.size).toBe(0)
      expect(await faultOf(issuer().issue([`*.web.${ZONE}`], responder))).toMatchObject({ kind: 'rejected' })
    } finally {
      edge.closeAllConnections()
      edge.close()
    }
  })

  test('again for the same name: another key, in the same place, under the same account', async () => {
    const first = await issuer().issue([HOST], site.responder)
    const before = await loadPair(first)
    const second = await issuer().issue([HOST], site.responder)
    expect(second.certificateFile).toBe(first.certificateFile)
    expect(second.fingerprint).not.toBe(first.fingerprint)
    expect((await loadPair(second)).keyPem).not.toBe(before.keyPem)
    await expect(loadPair(first)).rejects.toThrow(/fullchain\.pem no longer holds the certificate/)
    expect(proxy.seen.filter(({ path }) => path === '/sign-me-up').map(({ status }) => status)).toEqual([201, 200])
    expect(filesBelow(issuedFolder(state.path))).toEqual([HOST, `${HOST}/fullchain.pem`, `${HOST}/privkey.pem`])
  })

  test('once for calls at the same time', async () => {
    const one = issuer()
    const [a, b] = await Promise.all([one.issue([HOST], site.responder), one.issue([HOST], site.responder)])
    expect(a).toEqual(b)
    expect(ordersPlaced()).toBe(1)
    await one.issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(2)
  })

  test('for us alone, whatever the umask', async () => {
    const before = process.umask(0o000)
    try {
      await issuer().issue([HOST], site.responder)
    } finally {
      process.umask(before)
    }
    const modes = filesBelow(state.path).map((file) => {
      const entry = statSync(join(state.path, file))
      return `${entry.isDirectory() ? 'folder' : 'file'} ${(entry.mode & 0o777).toString(8)}`
    })
    expect(new Set(modes)).toEqual(new Set(['folder 700', 'file 600']))
    expect(filesBelow(state.path).filter((file) => file.endsWith('.new'))).toEqual([])
  })
})

describe('an authority that is in a bad way', () => {
  afterEach(() => site.startPebble())

  test('refuses every second nonce: it is asked again', async () => {
    await site.startPebble({ ...STEADY, PEBBLE_WFE_NONCEREJECT: '50' })
    await issuer().issue([HOST, `*.${HOST}`], site.responder)
    expect(proxy.seen.filter(({ status }) => status === 400).length).toBeGreaterThan(0)
    expect(ordersPlaced()).toBe(1)
  })

  test('has a valid authorization for one name already: only for the other a proof is shown', async () => {
    await site.startPebble({ ...STEADY, PEBBLE_AUTHZREUSE: '100' })
    const hosts: string[] = []
    const noting: ChallengeResponder = {
      ...site.responder,
      present: (host, ...proof) => {
        hosts.push(host)
        return site.responder.present(host, ...proof)
      },
    }
    await issuer().issue([HOST], noting)
    await issuer().issue([HOST, `www.${ZONE}`], noting)
    expect(hosts).toEqual([HOST, `www.${ZONE}`])
  })

  test('was restarted and has forgotten the account: it is registered again', async () => {
    const one = issuer()
    await one.issue([HOST], site.responder)
    await site.startPebble()
    expect((await one.issue([HOST], site.responder)).names).toEqual([HOST])
    expect(ordersPlaced()).toBe(2)
  })

  test('is down', async () => {
    await site.stopPebble()
    const direct = issuer({ directory: site.directory })
    const fault = await faultOf(direct.issue([HOST], site.responder))
    expect(fault).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/at https:.*\(ECONNREFUSED\)/) })
    await site.startPebble()
    expect((await direct.issue([HOST], site.responder)).names).toEqual([HOST])
  })
})

describe('an authority that says no', () => {
  const problem = (type: string, status: number, headers = {}): AcmeFault => ({
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: 'canary-of-the-authority', status }),
  })
  const faultWhen = async (path: string, fault: AcmeFault, more: Partial<AcmeIssuerOptions> = {}) => {
    proxy.goWrong((asked) => (asked.startsWith(path) ? fault : undefined))
    const refused = await faultOf(issuer(more).issue([HOST], site.responder))
    expect(refused.message).not.toContain('canary')
    expect(await site.challengesOf(HOST)).toBe(0)
    return refused
  }

  test('too many orders: when to come again is told, and nothing waits or is repeated', async () => {
    const limited = problem('rateLimited', 429, { 'retry-after': '3600' })
    expect(await faultWhen('/order-plz', limited)).toMatchObject({
      kind: 'rate_limited',
      retryAfter: 3600,
      message: expect.stringContaining('(rateLimited)'),
    })
    expect(proxy.seen.filter(({ path }) => path === '/order-plz')).toHaveLength(1)
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
    ['with a token that is a path', '/authZ', authorization(HOST, '../canary'), { kind: 'rejected' }],
    ['with a challenge for another name', '/authZ', authorization(`www.${ZONE}`, 'token'), { kind: 'rejected' }],
    ['with no certificate', '/certZ', { status: 200, body: '{"canary":1}' }, { kind: 'unavailable' }],
    ['as no directory', '/dir', { status: 200, body: '{"canary":1}' }, { kind: 'unavailable' }],
  ])('%s', async (_, path, answer, expected) => {
    expect(await faultWhen(path, answer)).toMatchObject(expected)
    expect(proxy.seen.filter((request) => request.path.startsWith(path))).toHaveLength(1)
  })

  test.each(['/dir', '/nonce-plz', '/sign-me-up', '/order-plz', '/authZ', '/chalZ', '/finalize-order', '/certZ'])(
    'nothing, at %s',
    async (path) => {
      expect(await faultWhen(path, 'hang', { limits: { requestMs: 300, pollMs: 20 } })).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('did not answer in time'),
      })
    },
  )

  test('nothing about an order, for too long', async () => {
    const undecided = await startUndecided()
    expect(await undecided).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('within 0.3 s') })
    expect(orders.records.size).toBe(1)
  })
  const startUndecided = async () => {
    const pending: ChallengeResponder = { ...site.responder, present: async () => undefined }
    const withoutAsking = (path: string): AcmeFault | undefined =>
      path.startsWith('/chalZ') ? { status: 200, body: '{"status":"processing"}' } : undefined
    proxy.goWrong(withoutAsking)
    return faultOf(issuer({ limits: { decisionMs: 300, pollMs: 20 } }).issue([HOST], pending))
  }

  test('that the proof is not there: the order is over and the next call places another', async () => {
    const silent: ChallengeResponder = { ...site.responder, present: async () => undefined }
    expect(await faultOf(issuer().issue([HOST], silent))).toMatchObject({
      kind: 'challenge_failed',
      message: expect.stringMatching(/did not see the proof for app\.issue\.test \((unauthorized|dns)\)/),
    })
    expect(orders.records.size).toBe(0)
    await issuer().issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(2)
  })

  test('nobody we trust', async () => {
    const untrusting = issuer({ caFile: undefined })
    const refused = await faultOf(
      issuer()
        .issue([HOST], site.responder)
        .then(() => untrusting.issue([HOST], site.responder)),
    )
    expect(refused).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('SELF_SIGNED') })
    expect(await faultOf(issuer({ caFile: join(state.path, 'none') }).issue([HOST], site.responder))).toMatchObject({
      kind: 'local',
      message: expect.stringContaining('none'),
    })
  })
})

describe('a crash', () => {
  /** Runs an issuer up to the point where it dies: from there on it neither goes on nor cleans up. */
  async function crash(kill: (die: () => Promise<never>) => { orders?: OrderBook; responder?: ChallengeResponder }) {
    const dead = Promise.withResolvers<void>()
    const die = () => {
      dead.resolve()
      return new Promise<never>(() => undefined)
    }
    const { orders: book = orders, responder = site.responder } = kill(die)
    const lost = issuer({ orders: book }).issue([HOST], responder)
    await Promise.race([dead.promise, lost.then(() => Promise.reject(new Error('it did not die')))])
  }
  const dieAtRequest = (path: string, fault: AcmeFault) => (die: () => Promise<never>) => {
    proxy.goWrong((asked) => {
      if (!asked.startsWith(path)) return undefined
      die()
      return fault
    })
    return {}
  }
  const keyUnderWay = () => {
    const file = filesBelow(state.path).find((name) => /orders\/\w+\/privkey\.pem$/.test(name))
    return file && readFileSync(join(state.path, file), 'utf8')
  }

  test.each<[string, Parameters<typeof crash>[0]]>([
    [
      'after the order was noted',
      (die) => ({ orders: { ...orders, putOrder: (order) => orders.putOrder(order).then(die) } }),
    ],
    ['before the proof is shown', (die) => ({ responder: { ...site.responder, present: die } })],
    [
      'after the proof is shown',
      (die) => ({
        responder: { ...site.responder, present: (...proof) => site.responder.present(...proof).then(die) },
      }),
    ],
    ['before the challenge is handed in', dieAtRequest('/chalZ', 'hang')],
    ['after the challenge is handed in', dieAtRequest('/my-order', 'hang')],
    ['before the order is finalized', dieAtRequest('/finalize-order', 'hang')],
    ['before the certificate is fetched', dieAtRequest('/certZ', 'hang')],
    ['before the order is forgotten', (die) => ({ orders: { ...orders, deleteOrder: die } })],
  ])('%s: the next call resumes the order with its key', async (_, kill) => {
    await crash(kill)
    const key = keyUnderWay()
    expect(key).toBeDefined()
    proxy.goWrong(() => undefined)
    const issued = await issuer().issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(1)
    expect(told.join()).toContain('order_resumed')
    expect((await loadPair(issued)).keyPem).toBe(key)
    expect(await site.challengesOf(HOST)).toBe(0)
    expect(orders.records.size).toBe(0)
    expect(keyUnderWay()).toBeUndefined()
  })

  test('while the authority looks for the proof: it is shown, but not handed in again', async () => {
    await crash(dieAtRequest('/my-order', 'hang'))
    const { origin } = new URL(proxy.directory)
    const order = { status: 'pending', authorizations: [`${origin}/authZ/1`], finalize: `${origin}/finalize` }
    let looks = 0
    proxy.goWrong((path) => {
      if (path === '/authZ/1') return authorization(HOST, 'token', 'processing')
      if (!path.startsWith('/my-order') || looks++ > 0) return undefined
      return { status: 200, body: JSON.stringify(order) }
    })
    expect((await issuer().issue([HOST], site.responder)).names).toEqual([HOST])
    expect(ordersPlaced()).toBe(1)
  })

  test('and a lost answer: the finalized order is resumed, a new order is not repeated', async () => {
    proxy.goWrong((path) => (path.startsWith('/finalize-order') ? 'lose_answer' : undefined))
    expect(await faultOf(issuer().issue([HOST], site.responder))).toMatchObject({ kind: 'unavailable' })
    proxy.goWrong(() => undefined)
    await issuer().issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(1)
    proxy.goWrong((path) => (path.startsWith('/order-plz') ? 'lose_answer' : undefined))
    expect(await faultOf(issuer().issue([HOST], site.responder))).toMatchObject({ kind: 'unavailable' })
    expect(ordersPlaced()).toBe(2)
  })

  const afterTheProof: Parameters<typeof crash>[0] = (die) => ({
    responder: { ...site.responder, present: (...proof) => site.responder.present(...proof).then(die) },
  })

  test('and a run that is given up: its proof is swept away, and only that', async () => {
    await crash(afterTheProof)
    const other = { name: `_acme-challenge.${HOST}`, type: 'TXT', ttl: 60, value: 'somebody-elses' } as const
    await site.provider.addValue(other)
    expect(await site.challengesOf(HOST)).toBe(2)
    await issuer().sweepChallenges([HOST], site.responder)
    await issuer().sweepChallenges([HOST], site.responder)
    expect(await site.challengesOf(HOST)).toBe(1)
    await site.provider.removeValue(other)
    await issuer().issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(1)
  })

  test.each<[string, () => Promise<Partial<AcmeIssuerOptions>>]>([
    ['the authority has forgotten', async () => site.startPebble().then(() => ({}))],
    ['is a day old', async () => ({ now: () => Date.now() + 24 * 3_600_000 })],
  ])('and an order that %s: exactly one new one is placed, and the old proof is gone', async (_, later) => {
    await crash(afterTheProof)
    await issuer(await later()).issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(2)
    expect(await site.challengesOf(HOST)).toBe(0)
  })
})

describe('our own side', () => {
  test('a proof that cannot be shown', async () => {
    const failing: ChallengeResponder = {
      ...site.responder,
      present: () => Promise.reject(new DnsWriteFault('unknown', 'BIND is down')),
    }
    expect(await faultOf(issuer().issue([HOST], failing))).toMatchObject({
      kind: 'challenge_failed',
      message: `The proof for ${HOST} could not be shown: BIND is down.`,
    })
    expect(ordersPlaced()).toBe(1)
    await issuer().issue([HOST], site.responder)
    expect(ordersPlaced()).toBe(1)
  })

  test('a proof that cannot be taken away: the certificate is good, and it is told until it is done', async () => {
    const stuck: ChallengeResponder = {
      ...site.responder,
      withdraw: () => Promise.reject(new DnsWriteFault('unknown', 'BIND is down')),
    }
    await issuer().issue([HOST], stuck)
    expect(told.at(-1)).toBe(`challenge_left The dns-01 proof for ${HOST} could not be taken away: BIND is down.`)
    expect(await faultOf(issuer().sweepChallenges([HOST], stuck))).toMatchObject({ kind: 'challenge_failed' })
    expect(await site.challengesOf(HOST)).toBe(1)
    await issuer().sweepChallenges([HOST], site.responder)
    expect(await site.challengesOf(HOST)).toBe(0)
  })

  test('a state folder that cannot be written to: nothing is ordered', async () => {
    await issuer().issue([HOST], site.responder)
    const orderFolder = filesBelow(state.path).find((file) => file.endsWith('/orders')) ?? ''
    rmSync(join(state.path, orderFolder), { recursive: true })
    writeFileSync(join(state.path, orderFolder), 'in the way')
    expect(await faultOf(issuer().issue([HOST], site.responder))).toMatchObject({
      kind: 'local',
      message: expect.stringMatching(/orders.* cannot be used \(ENOTDIR\)/),
    })
    expect(ordersPlaced()).toBe(1)
  })

  test('an account key that is none is not replaced', async () => {
    await issuer().issue([HOST], site.responder)
    const file = join(state.path, filesBelow(state.path).find((name) => name.endsWith('account.key')) ?? '')
    writeFileSync(file, 'canary')
    expect(await faultOf(issuer().issue([HOST], site.responder))).toMatchObject({
      kind: 'local',
      message: expect.stringContaining(`${file} holds no private key`),
    })
    expect(readFileSync(file, 'utf8')).toBe('canary')
  })

  test.each([['../../etc'], ['a b.test'], ['*.*.test'], ['']])('%j is no name to issue for', async (name) => {
    await expect(issuer().issue([name], site.responder)).rejects.toMatchObject({ kind: 'rejected' })
    expect(filesBelow(state.path)).toEqual([])
  })
})
