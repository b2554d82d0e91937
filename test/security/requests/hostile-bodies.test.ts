import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import { fc } from '../../support/fast-check.ts'
import type { Answer } from '../../support/http/call.ts'
import { requestLog } from '../../support/http/request-log.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** Whatever is sent: a clear refusal that names every bad field, and nothing stored but the audit line. */
const LARGEST_BODY = 16 * 1024
const FIELDS = ['zone', 'subdomain', 'server', 'port', 'health', 'tls']
let site: Site
let planId: string
let before: ReturnType<typeof stored>

beforeAll(async () => {
  site = await startSite({ sockets: false, settings: 'rateLimits: { internal: { plan: 100000, read: 100000 } }' })
  planId = await site.planId()
  before = stored(site.api)
})

afterAll(() => site.stop())

const json = { 'content-type': 'application/json' }
const send = (body: string | Buffer, path = '/api/deploy/plan') => site.api.call({ path, body, headers: json })

const fields = ({ body }: Answer): string[] => body.errors.map(({ field }: { field: string }) => field)

function expectRefused(answer: Answer): void {
  expect([answer.status, answer.body?.code]).toEqual([400, 'invalid_request'])
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(answer.body.errors.length).toBeGreaterThan(0)
  for (const { field, message } of answer.body.errors) {
    expect(field).toEqual(expect.stringMatching(/./s))
    expect(message).toEqual(expect.stringMatching(/./))
  }
}

describe('every bad field is named', () => {
  test('when all are missing', async () => {
    const answer = await send('{}')
    expectRefused(answer)
    expect(fields(answer).sort()).toEqual([...FIELDS].sort())
  })

  test('when all are wrong and more are unknown', async () => {
    const body = {
      zone: 1,
      subdomain: 'a b',
      server: '',
      port: '80',
      health: 'x',
      tls: 'yes',
      expiresIn: 1,
      more: 1,
      yet: 2,
    }
    const answer = await send(JSON.stringify(body))
    expectRefused(answer)
    expect(fields(answer).sort()).toEqual(Object.keys(body).sort())
    for (const field of Object.keys(body)) expect(answer.body.detail).toContain(field)
  })

  test('for the token request, too', async () => {
    const answer = await send('{"action":"extend","more":1}', '/api/internal/token')
    expectRefused(answer)
    expect(fields(answer).sort()).toEqual(['action', 'more', 'planId'])
  })

  test.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['an array of plans', '[{}]'],
    ['a text', '"plan"'],
    ['a number', '1'],
    ['nothing', ''],
    ['a space', ' '],
    ['half an object', '{"zone":"lab.test"'],
    ['two objects', '{}{}'],
    ['a comment', '{} // x'],
    ['a trailing comma', '{"zone":"lab.test",}'],
    ['NaN', '{"port":NaN}'],
    ['a byte order mark', '\uFEFF{}'],
    ['single quotes', "{'zone':'lab.test'}"],
  ])('%s instead of an object is a bad body', async (_name, text) => {
    const answer = await send(text)
    expectRefused(answer)
    expect(fields(answer)).toEqual(['body'])
  })
})

describe('keys that reach further than their object', () => {
  const valid = () => JSON.stringify(site.request()).slice(1, -1)

  test.each([
    '"__proto__":{"tls":true}',
    '"__proto__":null',
    '"\\u005f_proto__":{}',
    '"constructor":{"prototype":{"tls":true}}',
    '"extra":{"__proto__":{}}',
    '"zone":"lab.test"',
    '"\\u007aone":"other.test"',
    '"prototype":{}',
    '"toString":"x"',
    '"hasOwnProperty":1',
    '"valueOf":1',
  ])('%s is refused beside a valid plan', async (member) => {
    for (const text of [`{${valid()},${member}}`, `{${member},${valid()}}`]) expectRefused(await send(text))
    expect(({} as Record<string, unknown>).tls).toBeUndefined()
  })

  test.each([
    ['__proto__', '{"planId":"x","__proto__":{"action":"remove"}}'],
    ['a key twice', '{"planId":"x","planId":"y"}'],
  ])('%s is refused in a token request', async (_name, text) => {
    expectRefused(await send(text, '/api/internal/token'))
  })
})

describe('size and depth', () => {
  const padded = (length: number) => {
    const text = JSON.stringify(site.request())
    return text + ' '.repeat(length - text.length)
  }

  test('exactly 16 KiB is read, one byte more is not', async () => {
    expect((await send(padded(LARGEST_BODY))).status).toBe(201)
    before = stored(site.api)
    const over = await send(padded(LARGEST_BODY + 1))
    expect([over.status, over.body.code]).toEqual([413, 'payload_too_large'])
  })

  test('100 KB are refused', async () => {
    const announced = await send(padded(100_000))
    expect([announced.status, announced.body.code]).toEqual([413, 'payload_too_large'])
  })

  test.each([
    ['brackets', '['.repeat(8_192) + ']'.repeat(8_192)],
    ['brackets that never close', '['.repeat(16_384)],
    ['objects', `${'{"a":'.repeat(2_700)}1${'}'.repeat(2_700)}`],
    ['braces', '{'.repeat(16_384)],
    ['a field of brackets', `{"zone":${'['.repeat(8_000)}${']'.repeat(8_000)}}`],
    ['quotes', '"'.repeat(16_384)],
    ['backslashes in a text', `"${'\\'.repeat(16_380)}"`],
    ['a number without end', '9'.repeat(16_384)],
    ['1,400 unknown fields', `{${Array.from({ length: 1_400 }, (_, i) => `"f${i}":1`).join()}}`],
    ['a name of 16,000 characters', `{"${'a'.repeat(16_000)}":1}`],
  ])('%s', async (_name, text) => {
    const answer = await send(text)
    expectRefused(answer)
    expect(answer.text.length).toBeLessThan(8_192)
  })

  test.each(['zone', 'subdomain', 'server', 'health'])('16,000 characters that look like a %s', async (field) => {
    for (const unit of ['a-', 'a.', '-', '.', 'xn--', '/', '%2e', '1.']) {
      const answer = await send(JSON.stringify(site.request({ [field]: unit.repeat(15_000 / unit.length) })))
      expectRefused(answer)
      expect(fields(answer)).toEqual([field])
    }
  })

  test.each([0.5, -0.1, 1e21, '1e400', -1, 2 ** 53, '0x50', true, null, [80], {}])('port %j', async (port) => {
    const text = JSON.stringify(site.request({ port: 'PORT' })).replace('"PORT"', String(JSON.stringify(port)))
    const raw = port === '1e400' ? text.replace('"1e400"', '1e400') : text
    const answer = await send(raw)
    expect([400, 422]).toContain(answer.status)
    expect(fields(answer)).toEqual(['port'])
  })
})

describe('for anything sent', () => {
  const runs = { numRuns: process.env.CAMPAIGN ? 1_000 : 50 }

  test('any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 512 }), async (bytes) => {
        const answer = await send(Buffer.from(bytes))
        expectRefused(answer)
      }),
      runs,
    )
  })

  test('any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ depthSize: 'large' }), async (value) => {
        const text = JSON.stringify(value)
        fc.pre(Buffer.byteLength(text) <= LARGEST_BODY)
        const answer = await send(text)
        expectRefused(answer)
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        const named = fields(answer)
        if (!isObject || named.includes('body')) return
        const missing = FIELDS.filter((field) => !Object.hasOwn(value, field))
        expect(named.length >= 20 ? [] : missing.filter((field) => !named.includes(field))).toEqual([])
      }),
      runs,
    )
  })

  const typeOf: Record<string, string> = {
    zone: 'string',
    subdomain: 'string',
    server: 'string',
    port: 'number',
    health: 'string',
    tls: 'boolean',
    expiresIn: 'number',
  }

  test('any single field of a valid plan given another type', async () => {
    const mutation = fc
      .tuple(fc.constantFrom(...Object.keys(typeOf)), fc.jsonValue({ maxDepth: 2 }))
      .filter(([field, value]) => typeof value !== typeOf[field])
    await fc.assert(
      fc.asyncProperty(mutation, async ([field, value]) => {
        const answer = await send(JSON.stringify(site.request({ [field]: value })))
        expectRefused(answer)
        const treacherous = /"(?:__proto__|constructor)":/.test(JSON.stringify(value))
        if (!treacherous) expect(fields(answer)).toEqual([field])
      }),
      runs,
    )
  })

  const grammar: Record<string, RegExp> = {
    zone: /^[a-z0-9.-]+$/i,
    subdomain: /^[a-z0-9-]+$/i,
    server: /^[a-z0-9-]{1,32}$/i,
    health: /^\/(?!\/)[!-~]*$/,
  }

  test('any text in a text field of a valid plan that its letters do not allow', async () => {
    const mutation = fc
      .tuple(fc.constantFrom(...Object.keys(grammar)), fc.string({ unit: 'binary', maxLength: 64 }))
      .filter(([field, value]) => !grammar[field]?.test(value))
    await fc.assert(
      fc.asyncProperty(mutation, async ([field, value]) => {
        const answer = await send(JSON.stringify(site.request({ [field]: value })))
        expectRefused(answer)
        expect(fields(answer)).toEqual([field])
      }),
      runs,
    )
  })

  test('any token request', async () => {
    const body = fc.record({ planId: fc.jsonValue(), action: fc.jsonValue() }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const answer = await send(JSON.stringify(value), '/api/internal/token')
        expect([400, 404]).toContain(answer.status)
        expect(['invalid_request', 'plan_not_found']).toContain(answer.body.code)
      }),
      runs,
    )
  })
})

describe('after all of this', () => {
  test('nothing was stored but audit lines, one for each refusal', async () => {
    expect(stored(site.api)).toEqual(before)
    const refusals = requestLog(site.api).filter(({ status }) => status >= 400)
    const lines = await site.api.service.store.readAudit(0, 100_000)
    expect(lines.filter(({ outcome }) => outcome === 'refused')).toHaveLength(refusals.length)
    expect(lines.filter(({ outcome }) => outcome === 'ok').map(({ planId }) => planId)).toContain(planId)
    expect(await verifyAudit(site.api.service.store)).toMatchObject({ ok: true })
  })

  test('nothing failed inside', () => {
    const refusals = requestLog(site.api).filter(({ status }) => status >= 400)
    expect(refusals.filter(({ status }) => status >= 500)).toEqual([])
    expect(refusals.length).toBeGreaterThan(250)
  })
})
