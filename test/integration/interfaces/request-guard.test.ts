import type { FastifyRequest } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Admission } from '../../../src/authorize/admission.ts'
import { CallerRules } from '../../../src/authorize/caller.ts'
import { type App, createApp } from '../../../src/http/app.ts'
import { HostCheck } from '../../../src/http/guard/host-check.ts'
import { toProblem } from '../../../src/http/guard/problem.ts'
import { guardRequests } from '../../../src/http/guard/request-guard.ts'
import { Problem } from '../../../src/model/errors.ts'
import { createLog } from '../../../src/runtime/log.ts'

/** The guard of requests on an app without sockets. `test/security` attacks the whole service over real ones. */
const HOST = 'drawbridge.lab.test'
const INSIDE = '192.168.45.10'
const OUTSIDE = '203.0.113.7'

const hostCheck = new HostCheck(() => [`http://${HOST}`], 'http')
/** This address has guessed too often. */
const GUESSER = '192.168.45.66'
let app: App

beforeAll(async () => {
  app = createApp(createLog('silent', []), undefined)
  app.setErrorHandler((error, _request, reply) =>
    reply.status(400).send({ code: toProblem(error, { network: 'internal' }).code }),
  )
  guardRequests(app, {
    callers: new CallerRules(['192.168.45.0/24'], []),
    hostCheck,
    admission: new Admission({ flow: 'capability', adminToken: 'off' }, () => undefined),
    budgets: {
      spend: async () => undefined,
      refuseAfterFailures: ({ caller }) => {
        if (caller.address === GUESSER) throw new Problem('rate_limited', 'This address guesses.', { retryAfter: 1 })
      },
    },
    isClosing: () => false,
  })
  app.get('/open', async () => ({ code: 'ok' }))
  app.get('/inside', { config: { internalOnly: true } }, async () => ({ code: 'ok' }))
  app.get('/guarded', { config: { guarded: 'apply' } }, async () => ({ code: 'ok' }))
  await app.ready()
})
afterAll(() => app.close())

const codeOf = async (url: string, remoteAddress: string, headers: Record<string, string> = {}) =>
  (await app.inject({ url, remoteAddress, headers: { host: HOST, ...headers } })).json().code

test('the Host header has to name this service', async () => {
  expect(await codeOf('/open', INSIDE)).toBe('ok')
  expect(await codeOf('/open', INSIDE, { host: 'rebound.example.com' })).toBe('host_not_allowed')
})

test('the Origin of a browser has to be this service', async () => {
  expect(await codeOf('/open', INSIDE, { origin: `http://${HOST}` })).toBe('ok')
  expect(await codeOf('/open', INSIDE, { origin: 'https://evil.example.com' })).toBe('origin_not_allowed')
  expect(await codeOf('/open', INSIDE, { origin: 'null' })).toBe('origin_not_allowed')
})

test('a second Host header is refused', () => {
  const request = (...rawHeaders: string[]) =>
    ({ raw: { rawHeaders }, headers: {}, socket: {} }) as unknown as FastifyRequest
  hostCheck.check(request('Host', HOST))
  expect(() => hostCheck.check(request('Host', HOST, 'host', 'evil.example.com'))).toThrow('The Host header')
})

test('internal and guarded routes are closed to other networks, whatever a header says', async () => {
  for (const url of ['/inside', '/guarded']) {
    expect(await codeOf(url, INSIDE)).toBe('ok')
    expect(await codeOf(url, OUTSIDE)).toBe('internal_network_required')
    expect(await codeOf(url, OUTSIDE, { 'x-forwarded-for': INSIDE })).toBe('internal_network_required')
    expect(await codeOf(url, INSIDE, { 'x-forwarded-for': INSIDE })).toBe('internal_network_required')
  }
})

test('a credential of an address that has failed too often is not even looked at', async () => {
  expect(await codeOf('/guarded', GUESSER)).toBe('ok')
  for (const header of ['x-deploy-capability', 'x-deploy-token'])
    expect(await codeOf('/guarded', GUESSER, { [header]: 'guess' })).toBe('rate_limited')
})
