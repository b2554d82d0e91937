import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { debugLogReader } from '../../../src/nginx/process/debug-logs.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { enterGeneration } from '../../support/edge/generation.ts'
import { type NginxFiles, nginxFiles, settled } from '../../support/edge/nginx-files.ts'
import { unreadable } from '../../support/unreadable.ts'

/** What the system once refuses to read is unknown, and not gone. */
const ENTRIES = ['a', 'b', 'c', 'd'].map((name) => ({ host: `${name}.lab.test` }))
const HOSTS = ENTRIES.map(({ host }) => host)

async function edge(): Promise<NginxFiles> {
  const files = nginxFiles({ 'nginx.conf': 'events {}\nhttp { include drawbridge/*.conf; }\n' })
  await enterGeneration(files.path('drawbridge'), ENTRIES)
  await settled(files.reader)
  return files
}

const hostsIn = async ({ reader }: NginxFiles) => (await reader.read()).hosts.map(({ host }) => host)

describe('a reading is refused, and the next one finds everything, after a fault of', () => {
  test('the base file', async () => {
    using files = await edge()
    await enterGeneration(files.path('drawbridge'), [])
    const logs = debugLogReader({
      ...{ config: files.config, folder: files.path('drawbridge'), clock: systemClock },
      pidFile: files.path('nginx.pid'),
    })
    {
      using _ = unreadable((path) => path.endsWith('/drawbridge.conf'), 'EMFILE')
      const refused = { kind: 'write_failed', message: expect.stringContaining('/drawbridge.conf could not be read') }
      await expect(files.reader.read()).rejects.toMatchObject(refused)
      await expect(logs()).rejects.toMatchObject(refused)
    }
    const map = await files.reader.read()
    expect(map.hosts.map(({ host }) => host)).toEqual(HOSTS)
    for (const { configPath } of map.hosts) expect(configPath).toContain('/drawbridge/current/backends/')
    expect(await logs()).toEqual([])
  })

  test('a folder of hosts', async () => {
    using files = await edge()
    {
      using _ = unreadable((path) => path.endsWith('/names-http'), 'EIO')
      await expect(hostsIn(files)).rejects.toThrow('/names-http could not be read or written (EIO)')
    }
    expect(await hostsIn(files)).toEqual(HOSTS)
  })

  test('one file of hosts, whichever it is, while its neighbours have changed', async () => {
    using files = await edge()
    const paths = (await files.reader.read()).hosts.map(({ configPath }) => configPath)
    for (const [at, path] of paths.entries()) {
      for (const one of paths) writeFileSync(one, readFileSync(one, 'utf8').replace(/:\d+;/, `:${at + 1};`))
      {
        using _ = unreadable((given) => given.endsWith(path.slice(path.lastIndexOf('/'))), 'EMFILE')
        await expect(hostsIn(files)).rejects.toThrow('EMFILE')
      }
      const { hosts } = await files.reader.read()
      expect(hosts.map(({ proxyPass }) => proxyPass)).toEqual(HOSTS.map(() => `http://192.168.45.25:${at + 1}`))
    }
  })
})

test('a base file that is none is an edge without hosts', async () => {
  using files = await edge()
  files.remove('drawbridge/drawbridge.conf')
  expect(await hostsIn(files)).toEqual([])
})
