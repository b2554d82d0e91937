import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PLAN_ID, startTestEdge, type TestEdge, type TestPair } from '../../support/edge/edge.ts'

/** Threat 30. nginx writes the value of every variable into a debug log, and a private key is one. */
describe('an edge that logs at debug level', () => {
  let at: TestEdge
  let good: string
  beforeAll(async () => {
    at = await startTestEdge()
    good = readFileSync(at.config, 'utf8')
  })
  afterEach(async () => {
    writeFileSync(at.config, good)
    rmSync(foreignFile(), { force: true })
    await at.reload()
  })
  afterAll(() => at?.stop())

  const isKeyLogged = ({ keyPem }: TestPair): boolean => {
    const [, line = ''] = keyPem.split('\n')
    const logs = dirname(at.errorLog)
    return readdirSync(logs).some((name) => readFileSync(join(logs, name), 'utf8').includes(line))
  }
  const site = (host: string, certificate: TestPair) => ({
    host,
    planId: PLAN_ID,
    target: 'http://127.0.0.1:9',
    certificate,
  })

  test('writes the key of a host that it serves into its log at one handshake, and says so when asked', async () => {
    const certificate = await at.certificate('before.lab.test')
    await at.place(site('before.lab.test', certificate))
    await at.edge.handshake('before.lab.test')
    expect(isKeyLogged(certificate)).toBe(false)
    writeFileSync(at.config, good.replace(' notice;', ' debug;'))
    await at.reload()
    expect(await at.edge.handshake('before.lab.test')).toMatchObject({ kind: 'certificate' })
    await expect.poll(() => isKeyLogged(certificate)).toBe(true)
    await expect(at.edge.assertNoDebugLog()).rejects.toMatchObject({ kind: 'logs_keys' })
    await at.remove('before.lab.test')
  })

  const foreignFile = () => join(at.folder, 'zz-foreign.conf')
  const inOurFolder = (text: string) => {
    writeFileSync(foreignFile(), 'error_log logs/foreign.log debug;')
    return text
  }

  test.each([
    ['debug for everything', (text: string) => text.replace(' notice;', ' debug;')],
    ['debug in the http block', (text: string) => text.replace('http {', 'http { error_log logs/http.log debug;')],
    ['one part of debug', (text: string) => text.replace(' notice;', ' debug_http;')],
    ['debug for one visitor', (text: string) => text.replace('events {', 'events { debug_connection 127.0.0.1;')],
    ['debug in a file that somebody put beside ours', inOurFolder],
    ['debug in a file that is included', (text: string) => `include more-logs.conf;\n${text}`],
  ])('is given no key, whatever asks for it: %s', async (_, change) => {
    writeFileSync(join(dirname(at.config), 'more-logs.conf'), 'error_log \'logs/more.log\' "debug";\n')
    writeFileSync(at.config, change(good))
    await at.reload()
    const certificate = await at.certificate('after.lab.test')
    const placed = at.place(site('after.lab.test', certificate))
    await expect(placed).rejects.toMatchObject({
      kind: 'logs_keys',
      code: 'proxy_config_broken',
      message: expect.stringMatching(/\.conf, line \d+\), which writes private keys into its log\. Set error_log/),
    })
    await at.edge.handshake('after.lab.test')
    expect(isKeyLogged(certificate)).toBe(false)
    expect(at.keysOf('tls/keys-1')).toEqual([])
    expect(at.leftOvers()).toEqual([])
  })

  test("that is somebody else's server block alone never logs a key of ours", async () => {
    const { certificatePem, keyPem } = await at.certificate('own.test')
    writeFileSync(join(dirname(at.config), 'own.pem'), certificatePem + keyPem, { mode: 0o600 })
    const own = `server { listen ${at.address}:${at.ports.https} ssl; server_name own.test; error_log logs/own.log debug;
      ssl_certificate own.pem; ssl_certificate_key own.pem; }`
    appendFileSync(join(dirname(at.config), 'own.conf'), own)
    writeFileSync(at.config, good.replace('include drawbridge', 'include own.conf; include drawbridge'))
    const certificate = await at.certificate('beside.lab.test')
    await at.place(site('beside.lab.test', certificate))
    for (const host of ['beside.lab.test', 'own.test', 'nobody.test']) await at.edge.handshake(host)
    expect(readFileSync(join(dirname(at.errorLog), 'own.log'), 'utf8')).toContain('[debug]')
    expect(isKeyLogged(certificate)).toBe(false)
    await at.remove('beside.lab.test')
  })
})
