import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { compressed } from '../../../src/http/guard/compressed.ts'

const LONG = { hosts: Array.from({ length: 500 }, (_, at) => ({ host: `h${at}.lab.test`, badge: 'RUNNING' })) }

describe('a long list of hosts', () => {
  const app = Fastify()
  app.get('/long', { onSend: compressed }, async () => LONG)
  app.get('/short', { onSend: compressed }, async () => ({ hosts: [] }))
  const ask = (url: string, accepted?: string) =>
    app.inject({ url, headers: accepted === undefined ? {} : { 'accept-encoding': accepted } })

  test('is compressed for a client that can read it', async () => {
    const { headers, rawPayload } = await ask('/long', 'gzip, deflate, br')
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'accept-encoding'])
    expect(JSON.parse(gunzipSync(rawPayload).toString())).toEqual(LONG)
    expect(rawPayload.length).toBeLessThan(JSON.stringify(LONG).length / 4)
  })

  test.each([
    ['/long', undefined],
    ['/long', 'br'],
    ['/long', 'gzip;q=0'],
    ['/short', 'gzip'],
  ])('%s for %s stays as it is', async (url, accepted) => {
    const { headers, body } = await ask(url, accepted)
    expect(headers['content-encoding']).toBeUndefined()
    expect(JSON.parse(body)).toEqual(url === '/long' ? LONG : { hosts: [] })
  })
})
