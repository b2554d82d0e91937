import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PresentGeneration } from '../../../../src/nginx/generations/present.ts'
import { type Entry, enterGeneration } from '../../../support/edge/generation.ts'
import { type NginxFiles, nginxFiles, settled } from '../../../support/edge/nginx-files.ts'

const AT = '192.168.45.23'
const OTHER = (host: string) =>
  `server { listen ${AT}:80; server_name ${host}; location / { proxy_pass http://10.0.0.9; } }`

/** An nginx whose main file includes the edge's folder, with a text before and after it. */
async function edgeOf(entries: readonly Entry[], { before = '', after = '' } = {}): Promise<NginxFiles> {
  const files = nginxFiles({ 'nginx.conf': `events {}\nhttp {\n${before}\ninclude drawbridge/*.conf;\n${after}\n}\n` })
  await enterGeneration(files.path('drawbridge'), entries)
  return files
}

const placeOf = (files: NginxFiles, host: string) => {
  const { file, line } = new PresentGeneration(files.path('drawbridge')).whereIs(host)
  return { path: file, line }
}
const HOSTS: Entry[] = [
  { host: 'plain.lab.test', target: 'http://192.168.45.25:3001' },
  { host: 'secure.lab.test', target: 'http://192.168.45.25:3002', tls: true },
  { host: 'block.lab.test', target: 'http://192.168.45.25:3003', options: { maxBody: '2m' } },
]

describe('the hosts of a generation', () => {
  test('are told with the place of their own entry, listen and proxy_pass', async () => {
    using files = await edgeOf(HOSTS)
    const map = await files.reader.read()
    expect(map.broken).toEqual([])
    expect(map.hosts.map(({ host }) => host)).toEqual(['block.lab.test', 'plain.lab.test', 'secure.lab.test'])
    const http = { address: AT, port: 80, tls: false, defaultServer: false }
    const https = { address: AT, port: 443, tls: true, defaultServer: false }
    for (const [host, port, listen] of [
      ['plain.lab.test', 3001, [http]],
      ['secure.lab.test', 3002, [http, https]],
    ] as const) {
      const { path, line } = placeOf(files, host)
      expect(path).toMatch(/\/drawbridge\/current\/backends\/\d\d\.map$/)
      expect(readFileSync(path, 'utf8').split('\n')[(line ?? 0) - 1]).toBe(`${host} http://192.168.45.25:${port};`)
      const proxyPass = `http://192.168.45.25:${port}`
      expect(map.find(host)).toMatchObject({ configPath: path, line, proxyPass, listen, tls: listen.length === 2 })
    }
    const { configPath, line, proxyPass } = map.find('block.lab.test') ?? {}
    expect(configPath).toBe(placeOf(files, 'block.lab.test').path)
    expect(readFileSync(configPath ?? '', 'utf8').split('\n')[(line ?? 0) - 1]).toBe('server {')
    expect(proxyPass).toBe('http://192.168.45.25:3003')
  })

  test('answer with the place of their entry, also where they only redirect; other names with the base file', async () => {
    using files = await edgeOf(HOSTS)
    const map = await files.reader.read()
    const { path, line } = placeOf(files, 'secure.lab.test')
    const at = (host: string, port: number) => map.answers(host, { address: AT, port, tls: port === 443 })
    expect(at('secure.lab.test', 443)).toMatchObject({ how: 'exact', block: { configPath: path, line } })
    expect(at('secure.lab.test', 80)).toMatchObject({ how: 'exact', block: { configPath: path, proxyPass: null } })
    expect(at('plain.lab.test', 443)).toMatchObject({ how: 'default' })
    const block = { configPath: files.path('drawbridge/drawbridge.conf') }
    expect(at('none.lab.test', 80)).toMatchObject({ how: 'default', block })
  })

  test('follow each generation; an unchanged host has the same place, and its file is not a change', async () => {
    using files = await edgeOf(HOSTS)
    await settled(files.reader)
    const first = await files.reader.read()
    expect(await files.reader.read()).toBe(first)
    const now = Date.now()
    // Staging links the files of the present generation, which changes their ctime.
    await enterGeneration(files.path('drawbridge'), [{ host: 'new.lab.test', target: 'http://192.168.45.25:4000' }])
    const second = await files.reader.read()
    expect(second).not.toBe(first)
    expect(second.fingerprint).not.toBe(first.fingerprint)
    expect(first.changedAt).toBeLessThan(now)
    expect(second.find('new.lab.test')).toMatchObject({ proxyPass: 'http://192.168.45.25:4000' })
    expect(second.find('secure.lab.test')).toEqual(first.find('secure.lab.test'))
    expect(second.hosts.map(({ host }) => host)).toEqual([...second.hosts.map(({ host }) => host)].sort())
    for (const served of second.hosts) expect(second.find(served.host)).toBe(served)
  })

  test('of many shards stay complete over many generations', async () => {
    const many = Array.from({ length: 300 }, (_, at): Entry => ({ host: `h${at}.lab.test`, tls: at % 2 === 0 }))
    using files = await edgeOf(many.slice(0, 100))
    for (const end of [150, 151, 300]) {
      await enterGeneration(files.path('drawbridge'), many.slice(0, end))
      const { hosts } = await files.reader.read()
      const names = many.slice(0, end).map(({ host }) => host)
      expect(hosts.map(({ host }) => host)).toEqual(names.sort())
      for (const { host, configPath, line } of hosts) expect(placeOf(files, host)).toEqual({ path: configPath, line })
    }
  })
})

describe('hands of others', () => {
  test('a block with the name before the include wins, one after it does not', async () => {
    const host = 'plain.lab.test'
    using first = await edgeOf(HOSTS, { before: OTHER(host) })
    using last = await edgeOf(HOSTS, { after: OTHER(host) })
    expect((await first.reader.read()).find(host)).toMatchObject({
      configPath: first.config,
      proxyPass: 'http://10.0.0.9',
    })
    expect((await last.reader.read()).find(host)).toMatchObject({ proxyPass: 'http://192.168.45.25:3001' })
  })

  test('an edited line is seen', async () => {
    using files = await edgeOf(HOSTS)
    await files.reader.read()
    const { path } = placeOf(files, 'plain.lab.test')
    writeFileSync(path, readFileSync(path, 'utf8').replace(':3001', ':3009'))
    expect((await files.reader.read()).find('plain.lab.test')).toMatchObject({ proxyPass: 'http://192.168.45.25:3009' })
  })

  test('what is no line of ours is read as nginx does, and the places stay', async () => {
    using files = await edgeOf(HOSTS)
    await files.reader.read()
    const { path, line } = placeOf(files, 'plain.lab.test')
    appendFileSync(path, '"quoted.lab.test" "http://10.0.0.1:1";\n~^r\\d+\\.lab\\.test$ http://10.0.0.2:2;\n')
    const names = path.replace('backends', 'names-http').replace('.map', '.conf')
    appendFileSync(names, 'server_name quoted.lab.test r1.lab.test;\n')
    const map = await files.reader.read()
    expect(map.find('quoted.lab.test')).toMatchObject({ proxyPass: 'http://10.0.0.1:1', configPath: path })
    expect(map.find('r1.lab.test')).toMatchObject({ proxyPass: 'http://10.0.0.2:2', configPath: names })
    expect(map.find('plain.lab.test')).toMatchObject({ proxyPass: 'http://192.168.45.25:3001', configPath: path, line })
    appendFileSync(names, 'return 403;\n')
    expect((await files.reader.read()).find('plain.lab.test')).toMatchObject({ proxyPass: null, configPath: path })
    appendFileSync(names, '}\n')
    expect((await files.reader.read()).broken).toMatchObject([{ path: names }])
  })

  test('a host in a file of another shard is found there, and gone with it', async () => {
    using files = await edgeOf(HOSTS)
    const folder = files.path('drawbridge/current')
    const extra = join(folder, 'names-http', 'extra.conf')
    writeFileSync(extra, 'server_name plain.lab.test;\nserver_name other.lab.test;\n')
    const map = await files.reader.read()
    expect(map.find('plain.lab.test')?.configPath).toBe(placeOf(files, 'plain.lab.test').path)
    expect(map.find('other.lab.test')).toMatchObject({ configPath: extra, unresolved: true })
    renameSync(extra, `${extra}.off`)
    const later = await files.reader.read()
    expect(later.find('other.lab.test')).toBeUndefined()
    expect(later.find('plain.lab.test')).toMatchObject({ proxyPass: 'http://192.168.45.25:3001' })
  })

  test('an edited base file is read again', async () => {
    using files = await edgeOf(HOSTS)
    await files.reader.read()
    const base = files.path('drawbridge/drawbridge.conf')
    writeFileSync(base, `${readFileSync(base, 'utf8')}\n${OTHER('added.test')}\n`)
    expect((await files.reader.read()).find('added.test')).toMatchObject({ configPath: base })
  })

  test('no secret of a generation is opened', async () => {
    using files = await edgeOf(HOSTS)
    const tls = files.path('drawbridge/current/tls')
    for (const kind of readdirSync(tls)) writeFileSync(join(tls, kind, '00.map'), '{ is not readable')
    expect((await files.reader.read()).broken).toEqual([])
  })
})
