import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateId, renewalAdvisor } from '../../../src/certificates/acme/renewal-info.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { startBackend } from '../../support/backends/backend.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const CLOCK = { ...systemClock, now: () => NOW }
const SECOND = 1_000
/** RFC 9773, section 4.1. */
const ISSUER_KEY = '3016801469885B6B87464041E1B37B847BA0AE2CDE01C8D4'
const ID = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE'

const folder = tempFolder()
const certificateFile = join(folder.path, 'cert.pem')
beforeAll(() => {
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    join(folder.path, 'key.pem'),
  ]
  const extensions = ['-addext', 'subjectAltName=DNS:app.lab.test', '-addext', `2.5.29.35=DER:${ISSUER_KEY}`]
  const wish = ['-set_serial', '0x87654321', '-subj', '/CN=test', '-out', certificateFile, ...extensions]
  execFileSync('openssl', ['req', '-x509', ...key, ...wish], { stdio: 'pipe' })
})
afterAll(() => folder[Symbol.dispose]())

test("a certificate is named by its issuer's key and its serial number, as in the example of the RFC", async () => {
  expect(certificateId(new X509Certificate(readFileSync(certificateFile)))).toBe(ID)
  const [certificate, key] = [join(folder.path, 'plain.pem'), join(folder.path, 'plain.key')]
  await makeCertificate({ certificate, key, names: ['DNS:app.lab.test'], extensions: ['authorityKeyIdentifier=none'] })
  expect(certificateId(new X509Certificate(readFileSync(certificate)))).toBeUndefined()
})

describe('what an authority says of a certificate', () => {
  const advise = async (answer: string) => {
    await using ca = await startBackend((socket) => socket.end(answer))
    const renewalInfo = `http://${ca.address}:${ca.port}/renewal-info`
    const read = async () => ({ kind: 'available', caaIdentities: [], renewalInfo }) as const
    const advisor = renewalAdvisor({ directory: { url: `http://${ca.address}:${ca.port}/dir`, read }, clock: CLOCK })
    const advice = await advisor.advise({ certificateFile })
    expect(ca.request()).toMatch(new RegExp(`^GET /renewal-info/${ID} HTTP`))
    return advice
  }
  const saying = (body: object, header = '') => {
    const text = JSON.stringify(body)
    return `HTTP/1.1 200 OK\r\n${header}content-length: ${text.length}\r\n\r\n${text}`
  }
  const suggestedWindow = { start: '2026-01-02T04:00:00Z', end: '2026-01-03T04:00:00Z' }
  const window = { start: Date.parse(suggestedWindow.start), end: Date.parse(suggestedWindow.end) }

  test('at an address of another origin is not asked for', async () => {
    await using stranger = await startBackend((socket) => socket.end(saying({ suggestedWindow })))
    const renewalInfo = `http://${stranger.address}:${stranger.port}/renewal-info`
    const read = async () => ({ kind: 'available', caaIdentities: [], renewalInfo }) as const
    const advisor = renewalAdvisor({ directory: { url: 'https://ca.test/dir', read }, clock: CLOCK })
    expect(await advisor.advise({ certificateFile })).toEqual({ askAgainAt: NOW + 21_600 * SECOND })
    expect(stranger.request()).toBe('')
  })

  test.each([
    ['Retry-After: 21600\r\n', 21_600],
    ['Retry-After: Thu, 01 Jan 2026 01:00:00 GMT\r\n', 3_600],
    ['', 21_600],
    ['Retry-After: 1\r\n', 60],
    ['Retry-After: 99999999\r\n', 86_400],
  ])('a window, and when to ask again: %j', async (header, seconds) => {
    const askAgainAt = NOW + seconds * SECOND
    expect(await advise(saying({ suggestedWindow }, header))).toEqual({ replaces: ID, window, askAgainAt })
  })

  test.each([
    [
      'a window that ends before it begins',
      saying({ suggestedWindow: { start: suggestedWindow.end, end: suggestedWindow.start } }),
    ],
    ['no window', saying({})],
    ['dates that are none', saying({ suggestedWindow: { start: 'soon', end: 'later' } })],
    ['no JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsoon'],
    ['an error', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'],
  ])('%s: nothing, and it is asked again in some hours', async (_what, answer) => {
    expect(await advise(answer)).toEqual({ replaces: ID, askAgainAt: NOW + 21_600 * SECOND })
  })

  test.each([
    ['whose directory does not offer it', { kind: 'available', caaIdentities: [] } as const],
    ['that is away', { kind: 'unavailable', reason: 'test' } as const],
  ])('one %s is not asked', async (_what, state) => {
    const advisor = renewalAdvisor({ directory: { url: '', read: async () => state }, clock: CLOCK })
    expect(await advisor.advise({ certificateFile })).toEqual({ askAgainAt: NOW + 21_600 * SECOND })
  })
})
