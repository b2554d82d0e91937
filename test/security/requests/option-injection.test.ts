import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readExposures } from '../../../src/config/exposures-file.ts'
import { hostileOptions } from '../../support/http/hostile-options.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** No value of an option is text for nginx: what does not match its grammar is refused at the API and in a file. */
let site: Site
let before: ReturnType<typeof stored>

beforeAll(async () => {
  site = await startSite({ sockets: false })
  await site.planId()
  before = stored(site.api)
})
afterAll(() => site.stop())

test('the API refuses every hostile value, names its field and stores nothing', async () => {
  for (const [field, options] of hostileOptions()) {
    const { status, body } = await site.plan({ options })
    expect([status, body.code], JSON.stringify(options)).toEqual([400, 'invalid_request'])
    expect(String(body.errors?.[0]?.field).split('.')[0]).toBe('options')
    expect(field.startsWith('options')).toBe(true)
  }
  expect(stored(site.api)).toEqual(before)
})

test('a file of exposures is refused as a whole, with the line of the value', () => {
  using folder = tempFolder()
  const file = join(folder.path, 'exposures.yaml')
  // The grammar is that of the API: one value of each field, and all of them in the campaign.
  const all = hostileOptions()
  for (const [, options] of process.env.CAMPAIGN ? all : new Map(all)) {
    writeFileSync(file, stringify({ exposures: [{ host: 'a.lab.test', server: '25', port: 3000, options }] }))
    expect(() => readExposures(file), JSON.stringify(options)).toThrow(/exposures\.yaml:\d+: exposures\[0\]\.options/)
  }
})

test('ids and servers that the configuration does not have are refused', async () => {
  for (const [field, options] of [
    ['options.basicAuth', { basicAuth: 'office' }],
    ['options.backendTls.authority', { backendTls: { authority: 'inside' } }],
    ['options.snippets', { snippets: ['teapot'] }],
    ['options.snippets', { snippets: ['constructor'] }],
    ['options.backends.0', { backends: [{ server: '73', port: 3000 }] }],
    ['options.backends.0', { backends: [{ server: '25', port: 22 }] }],
    ['options.backends.0', { backends: [{ server: 'constructor', port: 3000 }] }],
  ] as const) {
    const { status, body } = await site.plan({ options })
    expect([status >= 400 && status < 500, body.errors?.[0]?.field]).toEqual([true, field])
  }
})

test('HSTS without TLS is refused', async () => {
  const { status, body } = await site.plan({ options: { headers: { hsts: { maxAge: 3600 } } } })
  expect([status, body.errors?.[0]?.field]).toEqual([400, 'options.headers.hsts'])
})

test('options that say nothing give the plan that a request without options gives', async () => {
  const [plain, empty] = [await site.plan(), await site.plan({ options: { websocket: true } })]
  expect(empty.body.digest).toBe(plain.body.digest)
  expect(empty.body.request).not.toHaveProperty('options')
  const other = await site.plan({ options: { maxBody: '1m' } })
  expect(other.body.digest).not.toBe(plain.body.digest)
})
