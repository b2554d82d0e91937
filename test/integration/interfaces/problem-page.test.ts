import { afterAll, beforeAll, expect, test } from 'vitest'
import { Problem } from '../../../src/model/errors.ts'
import { startService, type TestService } from '../../support/http/service.ts'

/** A person who opens the page while the service cannot serve it reads words, and a program reads the problem. */
let api: TestService
beforeAll(async () => {
  const busy = () => {
    throw new Problem('unavailable', 'The service is <overloaded>.', { retryAfter: 5 })
  }
  api = await startService({
    sockets: false,
    mount: ({ app }) => {
      for (const path of ['/opened', '/api/opened']) app.get(path, busy)
      app.get('/often', () => {
        throw new Problem('rate_limited', 'Too many requests.', { retryAfter: 5 })
      })
      app.get('/broken', () => {
        throw new Error('It is broken.')
      })
    },
  })
})
afterAll(() => api?.stop())

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('an overloaded service answers a browser with a page that loads itself again', async () => {
  const { status, headers, text } = await api.call({ path: '/opened', headers: BROWSER })
  expect([status, headers['content-type'], headers['retry-after']]).toEqual([503, 'text/html; charset=utf-8', '5'])
  expect(text).toContain('<meta http-equiv="refresh" content="5">')
  expect(text).toContain('The service is &#60;overloaded&#62;.')
})

test.each([
  ['a name that is not that of the service', 421, 'host_not_allowed', { host: 'other.test' }, '/plans'],
  ['a refusal of a limit', 429, 'rate_limited', {}, '/often'],
  ['a fault of the service', 500, 'internal_error', {}, '/broken'],
])('a browser gets the problem of %s as it is', async (_what, status, code, more, path) => {
  const answer = await api.call({ path, headers: { ...BROWSER, ...more } })
  const type = answer.headers['content-type']
  expect([answer.status, type]).toEqual([status, 'application/problem+json; charset=utf-8'])
  expect(answer.body.code).toBe(code)
})

test.each([
  ['a program', '/opened', {}],
  ['a call of the API from a browser', '/api/opened', BROWSER],
])('%s gets the problem', async (_who, path, headers) => {
  const { headers: told, body } = await api.call({ path, headers })
  expect([told['content-type'], body.code]).toEqual(['application/problem+json; charset=utf-8', 'unavailable'])
})
