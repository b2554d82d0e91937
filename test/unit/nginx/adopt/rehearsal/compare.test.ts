import { expect, test } from 'vitest'
import { differencesOf, isTold, seenAt, sentenceOf } from '../../../../../src/nginx/adopt/rehearsal/compare.ts'

const backend = { method: 'GET', path: '/', version: '1.1', headers: { host: 'a' }, body: '' }
const answer = { status: 200, headers: { etag: '1', date: 'now' }, body: 'text', backend }

test.each([
  ['the date', { headers: { etag: '1', date: 'later' } }, []],
  ['a status', { status: 403, backend: undefined }, ['status', 'reached']],
  ['a header of the answer', { headers: { date: 'now' } }, ['answer etag']],
  ['a body', { body: 'other' }, ['body']],
  ['a path', { backend: { ...backend, path: '/a' } }, ['path']],
  ['a version', { backend: { ...backend, version: '1.0' } }, ['version']],
  ['a header of the request', { backend: { ...backend, headers: { host: 'a', proxy: 'x' } } }, ['request proxy']],
  ['an upload', { status: 413 }, ['upload']],
  ['an upgrade', { status: 101 }, ['upgrade']],
])('%s is compared', (_what, other, expected) =>
  expect(differencesOf(answer, { ...answer, ...other })).toEqual(expected),
)

test('redirects of nginx are compared by status and target', () => {
  const redirect = { status: 301, headers: { location: 'https://a/' }, body: '', backend: undefined }
  expect(differencesOf(redirect, { ...redirect, status: 308 })).toEqual(['redirect status'])
  expect(differencesOf(redirect, { ...redirect, headers: { location: 'https://b/' } })).toEqual(['redirect target'])
})

test('a difference is told by its own words, for every name, or for one scheme, and by no others', () => {
  const seen = seenAt('http', 'answer etag')
  for (const told of ['answer etag', 'answer *', 'http answer etag', 'http answer *', 'http *'])
    expect(isTold(seen, new Set([told]))).toBe(true)
  for (const told of ['status', 'answer', 'request *', 'https answer etag', 'https *'])
    expect(isTold(seen, new Set([told]))).toBe(false)
  expect(sentenceOf(seen)).toBe('In a rehearsal visitors got another header etag.')
})
