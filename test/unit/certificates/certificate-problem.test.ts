import { expect, test } from 'vitest'
import { faultOf, problemType, readProblem } from '../../../src/certificates/acme/problem.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const body = (type: unknown) => JSON.stringify({ type, detail: 'canary' })
const fault = (status: number, text: string, retryAfter?: string) =>
  faultOf(readProblem(status, retryAfter, text, NOW), 'https://ca.test')

test.each<[unknown, string | undefined]>([
  [{ type: 'urn:ietf:params:acme:error:caa' }, 'caa'],
  [{ type: 'urn:ietf:params:acme:error:canary <b>' }, undefined],
  [{ type: 'urn:ietf:params:acme:error:' }, undefined],
  [{ type: 'about:blank' }, undefined],
  [{ type: 7 }, undefined],
  [{}, undefined],
  [null, undefined],
  ['urn:ietf:params:acme:error:caa', undefined],
])('the type of a problem: %j', (problem, type) => expect(problemType(problem)).toBe(type))

const RATE_LIMITED = 'urn:ietf:params:acme:error:rateLimited'
test.each<[number, string, object]>([
  [403, body('urn:ietf:params:acme:error:caa'), { kind: 'rejected', message: expect.stringContaining('(caa)') }],
  [400, 'canary', { kind: 'rejected', message: expect.stringContaining('(HTTP 400)') }],
  [429, 'canary', { kind: 'rate_limited', retryAfter: 3600, message: expect.stringContaining('(HTTP 429)') }],
  [403, body(RATE_LIMITED), { kind: 'rate_limited', message: expect.stringContaining('(rateLimited)') }],
  [500, body('urn:ietf:params:acme:error:serverInternal'), { kind: 'unavailable', retryAfter: undefined }],
  [302, '', { kind: 'unavailable', message: expect.stringContaining('HTTP 302') }],
])('what an answer of the authority is for us: %i %s', (status, text, expected) => {
  const told = fault(status, text)
  expect(told).toMatchObject(expected)
  expect(told.message).toMatch(/^The certificate authority at https:\/\/ca\.test /)
  expect(told.message).not.toContain('canary')
})

test.each([400, 403, 500, 503])('an HTTP %i that says when to come again is a pause', (status) => {
  expect(fault(status, body('urn:ietf:params:acme:error:serverInternal'), '120').retryAfter).toBe(120)
  expect(fault(status, body('urn:ietf:params:acme:error:serverInternal')).retryAfter).toBeUndefined()
})

const DATES = { 'Thu, 01 Jan 2026 00:02:00 GMT': 120, 'Wed, 31 Dec 2025 00:00:00 GMT': 1 }
const NUMBERS = { '120': 120, '0': 1, '999999999': 604_800, '99999999999999999999': 3600 }
test.each<[string | undefined, number]>([...Object.entries({ ...DATES, ...NUMBERS, soon: 3600 }), [undefined, 3600]])(
  'when to come again: %s',
  (header, seconds) => expect(fault(429, '', header).retryAfter).toBe(seconds),
)
