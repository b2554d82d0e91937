import { mkdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderBase } from '../../../src/nginx/config/render-base.ts'
import type { OwnSockets } from '../../../src/nginx/config/sockets.ts'
import { listeningReader } from '../../../src/nginx/process/neighbours.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type NginxFiles, nginxFiles } from '../../support/edge/nginx-files.ts'
import { unreadable } from '../../support/unreadable.ts'

/** Where our servers listen beside those of others. */
const PORTS = { http: 80, https: 443 }
const socketsAt = (address: string, isShared: boolean): OwnSockets => ({
  http: [{ address, isShared }],
  https: [{ address, isShared }],
})
const ALONE = socketsAt('192.168.45.23', false)
const SHARED = socketsAt('192.168.45.23', true)
const BESIDE_ALL = socketsAt('0.0.0.0', true)
const site = (listen = '') => `server { listen ${listen}80; } server { listen ${listen}443 ssl; }\n`

const edgeOf = (http: string, more: Readonly<Record<string, string>> = {}) =>
  nginxFiles({ 'nginx.conf': `events {}\nhttp {\n${http}\ninclude drawbridge/*.conf;\n}\n`, ...more })

/** Writes the base file of an earlier change. */
function stand(files: NginxFiles, sockets: OwnSockets, number = 1): void {
  const folder = files.path('drawbridge')
  const generation = { number, folder: `${folder}/generations/${number}`, serves: { http: true, https: true } }
  files.write({
    'drawbridge/drawbridge.conf': renderBase({ listen: [], ports: PORTS, folder, sockets }, generation),
  })
}

const readerOf = (files: NginxFiles, listen: readonly string[] = ['192.168.45.23']) =>
  listeningReader({
    ...{ server: '23', address: '192.168.45.23', listen, ports: PORTS, clock: systemClock },
    ...{ config: files.config, folder: files.path('drawbridge'), pidFile: files.path('pid'), binary: '/nonexistent' },
  })
const socketsOf = async (files: NginxFiles, listen?: readonly string[]) => (await readerOf(files, listen)()).sockets

/** Sites in more folders than any pattern may list. */
function manyFolders(files: NginxFiles): void {
  for (let at = 0; at <= 5_000; at += 1) mkdirSync(files.path(`www/c${at}`), { recursive: true })
  files.write({ 'www/c7/nginx.conf': site() })
}

test('the sites of thousands of folders are read where the pattern names one file in each', async () => {
  using files = edgeOf('include www/*/nginx.conf;')
  manyFolders(files)
  expect(await socketsOf(files)).toEqual(BESIDE_ALL)
})

const UNREAD: readonly (readonly [string, string, string | RegExp, (files: NginxFiles) => void])[] = [
  [
    'a pattern that matches too many folders',
    'include www/*/*.conf;',
    /nginx\.conf, line 3: its pattern matches too many paths/,
    manyFolders,
  ],
  [
    'a file of a site that is none',
    'include sites/*.conf;',
    /sites\/a\.conf: the path is not a regular file/,
    (files) => mkdirSync(files.path('sites/a.conf'), { recursive: true }),
  ],
  [
    'a file in a server block that is missing',
    'server { include places.conf; }',
    /places\.conf: the file cannot be found/,
    () => undefined,
  ],
  [
    'a file that is not well-formed',
    'include sites/*.conf;',
    /sites\/a\.conf, line 2: /,
    (files) => files.write({ 'sites/a.conf': '\n}' }),
  ],
]

describe.each(UNREAD)('%s', (_, http, place, make) => {
  test('leaves our servers where they are', async () => {
    for (const sockets of [ALONE, SHARED, BESIDE_ALL]) {
      using files = edgeOf(http)
      make(files)
      stand(files, sockets)
      expect(await socketsOf(files)).toEqual(sockets)
    }
  })

  test('gives them no place where they have none yet, or not for these addresses, and says what to do', async () => {
    using files = edgeOf(http)
    make(files)
    const refused = { kind: 'unavailable', message: expect.stringMatching(place) }
    await expect(socketsOf(files)).rejects.toMatchObject(refused)
    stand(files, ALONE)
    await expect(socketsOf(files, ['192.168.45.24'])).rejects.toMatchObject(refused)
    await expect(socketsOf(files)).resolves.toEqual(ALONE)
    await expect(socketsOf(files, ['192.168.45.24'])).rejects.toThrow('Let Drawbridge read it, or remove its include.')
  })
})

test('what is not read and cannot hide where a server listens does not count', async () => {
  using files = edgeOf(
    `upstream u { include gone.conf; } map $host $to { include gone.map; }
    server { listen 80; location / { include gone.conf; proxy_pass http://$to; } } server { listen 443 ssl; }`,
  )
  stand(files, ALONE)
  expect((await files.reader.read()).broken).not.toEqual([])
  expect(await socketsOf(files, ['192.168.45.24'])).toEqual(BESIDE_ALL)
})

test('a conflict with what is read counts', async () => {
  using files = edgeOf('include gone.conf; server { listen 192.168.45.23:80 proxy_protocol; }')
  stand(files, SHARED)
  await expect(socketsOf(files)).rejects.toThrow('PROXY protocol')
})

test('a base file that once cannot be read does not make our sockets shared', async () => {
  using files = edgeOf('')
  const everywhere = socketsAt('0.0.0.0', false)
  stand(files, everywhere)
  const read = readerOf(files, ['0.0.0.0'])
  expect((await read()).sockets).toEqual(everywhere)
  stand(files, everywhere, 2)
  {
    using _ = unreadable((path) => path.endsWith('/drawbridge.conf'), 'EMFILE')
    await expect(read()).rejects.toMatchObject({ kind: 'write_failed' })
  }
  expect((await read()).sockets).toEqual(everywhere)
})
