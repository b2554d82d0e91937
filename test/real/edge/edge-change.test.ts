import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EdgeChange, EdgeFile } from '../../../src/edge/contract.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { until } from '../../support/until.ts'

let at: TestEdge
beforeAll(async () => {
  at = await startTestEdge()
})
afterAll(() => at?.stop())
afterEach(() => expect(at.leftOvers()).toEqual([]))

const site = (host: string, more: object = {}) => ({ host, planId: PLAN_ID, target: 'http://127.0.0.1:9', ...more })
const path = (name: string) => join(at.folder, name)
const hosts = () => readdirSync(path('hosts'))

async function changeTo(files: readonly EdgeFile[]): Promise<EdgeChange> {
  return { files, expected: await at.edge.hashFiles(files.map((file) => file.path)) }
}
const newHost = async (host: string, more = {}) => changeTo(await at.edge.filesFor(site(host, more)))

describe('a swap', () => {
  test('may be repeated, and so may a removal', async () => {
    const change = await newHost('again.lab.test', { certificate: await at.certificate('again.lab.test') })
    await at.edge.swap(change)
    await at.edge.swap(change)
    const read = await at.edge.read(change.files.map((file) => file.path))
    expect(read).toEqual(change.files)
    const removal = await changeTo(await at.edge.filesWithout('again.lab.test'))
    expect(removal.files.map((file) => file.path).sort()).toEqual(change.files.map((file) => file.path).sort())
    await at.edge.swap(removal)
    await at.edge.swap(removal)
    expect(hosts()).toEqual([])
    expect(['hosts', 'certificates', 'keys', 'more'].flatMap((name) => readdirSync(path(`tls/${name}`)))).toEqual([])
  })

  test("never overwrites somebody else's edit, and then writes nothing at all", async () => {
    const change = await newHost('edited.lab.test', { certificate: await at.certificate('edited.lab.test') })
    writeFileSync(path('hosts/edited.lab.test.conf'), '# mine\n')
    await expect(at.edge.swap(change)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(readFileSync(path('hosts/edited.lab.test.conf'), 'utf8')).toBe('# mine\n')
    expect(readdirSync(path('tls/keys'))).toEqual([])
    await expect(
      at.edge.swap({
        files: [{ path: 'hosts/edited.lab.test.conf', content: null, secret: false }],
        expected: change.expected,
      }),
    ).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(hosts()).toEqual(['edited.lab.test.conf'])
    rmSync(path('hosts/edited.lab.test.conf'))
  })

  test.each([
    ['a link', (place: string) => symlinkSync(join(dirname(at.config), 'victim'), place)],
    ['a link to nowhere', (place: string) => symlinkSync('/nowhere/at/all', place)],
    ['a folder', (place: string) => mkdirSync(place)],
  ])('does not follow %s where a file will be', async (_, plant) => {
    const victim = join(dirname(at.config), 'victim')
    writeFileSync(victim, 'untouched')
    const change = await newHost('planted.lab.test')
    const place = path('hosts/planted.lab.test.conf')
    plant(place)
    const before = lstatSync(place).ino
    const looked = await changeTo(change.files)
    for (const attempt of [change, looked]) {
      await expect(at.edge.swap(attempt)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    }
    const read = at.edge.read(['hosts/planted.lab.test.conf'])
    if (lstatSync(place).isSymbolicLink())
      expect(await read).toMatchObject([{ content: null, link: readlinkSync(place) }])
    else await expect(read).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(lstatSync(place).ino).toBe(before)
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    rmSync(place, { recursive: true })
    rmSync(victim)
  })

  test('does not go through a folder that was replaced by a link', async () => {
    const change = await newHost('through.lab.test', { certificate: await at.certificate('through.lab.test') })
    const elsewhere = join(dirname(at.config), 'elsewhere')
    mkdirSync(elsewhere)
    rmSync(path('tls/keys'), { recursive: true })
    symlinkSync(elsewhere, path('tls/keys'))
    await expect(at.edge.swap(change)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(readdirSync(elsewhere)).toEqual([])
    rmSync(path('tls/keys'))
    mkdirSync(path('tls/keys'), { mode: 0o700 })
    rmSync(elsewhere, { recursive: true })
  })

  test('makes keys for their owner alone, whatever the umask', async () => {
    for (const umask of [0o000, 0o077]) {
      const before = process.umask(umask)
      const change = await newHost('modes.lab.test', { certificate: await at.certificate('modes.lab.test') })
      await at.edge.validate(change)
      await at.edge.swap(change)
      process.umask(before)
      for (const file of change.files.filter(({ content }) => content !== null)) {
        expect(statSync(path(file.path)).mode & 0o777, file.path).toBe(file.secret ? 0o600 : 0o644)
      }
      expect(change.files.filter((file) => file.secret)).toHaveLength(1)
      expect(statSync(path('tls')).mode & 0o777).toBe(0o700)
      await at.edge.swap(await changeTo(await at.edge.filesWithout('modes.lab.test')))
    }
  })

  test('that may not write to a folder fails, and takes back what it wrote elsewhere', async () => {
    const change = await newHost('readonly.lab.test', { certificate: await at.certificate('readonly.lab.test') })
    await asNobody(['tls', 'tls/hosts', 'tls/certificates', 'tls/keys', 'tls/more', '.staging'], async () => {
      await expect(at.edge.swap(change)).rejects.toMatchObject({
        kind: 'write_failed',
        message: 'hosts/readonly.lab.test.conf could not be read or written (EACCES).',
      })
    })
    expect(['hosts', 'tls/hosts', 'tls/certificates', 'tls/keys'].flatMap((name) => readdirSync(path(name)))).toEqual(
      [],
    )
  })

  test('takes no path that is not of an edge', async () => {
    const files = [{ path: '../nginx.conf', content: 'x', secret: false }]
    const expected = [{ path: '../nginx.conf', hash: hash(readFileSync(at.config, 'utf8')) }]
    await expect(at.edge.swap({ files, expected })).rejects.toThrow('not a path')
    await expect(at.edge.validate({ files, expected: [] })).rejects.toThrow('not a path')
    await expect(at.edge.hashFiles(['hosts/../../nginx.conf'])).rejects.toThrow('not a path')
  })
})

describe('a validation', () => {
  const broken = (host: string, content: string): EdgeFile => ({ path: `hosts/${host}.conf`, content, secret: false })

  test('refuses what nginx refuses, touches nothing, and names the place and the kind only', async () => {
    const files = [broken('bad.lab.test', '# made by hand\ncanary_directive secret-canary;\n')]
    await expect(at.edge.validate({ files, expected: [] })).rejects.toMatchObject({
      kind: 'change_invalid',
      message: `nginx on edge 23 rejected the change: a directive is unknown (${path('hosts/bad.lab.test.conf')}, line 2). Nothing was changed.`,
    })
    expect(hosts()).toEqual([])
    await at.edge.assertValid()
  })

  test('sees what a change would replace or remove as replaced or removed', async () => {
    writeFileSync(path('hosts/bad.lab.test.conf'), 'broken')
    await expect(at.edge.assertValid()).rejects.toMatchObject({ kind: 'config_broken' })
    await at.edge.validate({ files: [{ path: 'hosts/bad.lab.test.conf', content: null, secret: false }], expected: [] })
    await at.edge.validate({ files: [broken('bad.lab.test', '# well again\n')], expected: [] })
    rmSync(path('hosts/bad.lab.test.conf'))
  })

  test("tells somebody else's broken file from a broken change", async () => {
    const foreign = join(at.folder, 'foreign.conf')
    writeFileSync(foreign, 'secret_canary on;\n')
    const change = await newHost('good.lab.test')
    for (const begin of [() => at.edge.assertValid(), () => at.edge.validate(change)]) {
      const attempt = begin()
      await expect(attempt).rejects.toMatchObject({
        kind: 'config_broken',
        message: expect.stringContaining(`(${foreign}, line 1)`),
      })
      await expect(attempt).rejects.not.toThrow('canary')
    }
    rmSync(foreign)
    await at.edge.validate(change)
  })

  test('is not fooled by a base file that no longer includes the hosts', async () => {
    const base = readFileSync(path('drawbridge.conf'), 'utf8')
    writeFileSync(path('drawbridge.conf'), base.replace(/^include .*hosts.*$/m, ''))
    await expect(at.edge.validate(await newHost('unseen.lab.test'))).rejects.toMatchObject({ kind: 'unavailable' })
    rmSync(path('drawbridge.conf'))
    await expect(at.edge.validate(await newHost('unseen.lab.test'))).rejects.toMatchObject({ kind: 'unavailable' })
    writeFileSync(path('drawbridge.conf'), base)
  })

  test('says which line the main file lacks', async () => {
    const main = readFileSync(at.config, 'utf8')
    writeFileSync(at.config, main.replace('include drawbridge/*.conf;', '# include drawbridge/*.conf;'))
    await expect(at.edge.validate(await newHost('left-out.lab.test'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: `nginx does not include Drawbridge's folder. Add "include ${at.folder}/*.conf;" to the http block of ${at.config}.`,
    })
    writeFileSync(at.config, main.replace('include drawbridge/*.conf;', `include "${at.folder}/*.conf";`))
    await at.edge.validate(await newHost('left-out.lab.test'))
    writeFileSync(at.config, main)
  })
})

describe('the folder that nginx loads', () => {
  test('never shows, at any instant, a file that was not validated before', async () => {
    const validated = new Set<string>()
    const watcher = await watchHosts()
    for (const round of [1, 2, 3]) {
      for (const host of ['a.lab.test', 'b.lab.test']) {
        const files = await at.edge.filesFor(site(host, { target: `http://127.0.0.1:${round}` }))
        const change = await changeTo(files)
        await at.edge.validate(change)
        for (const { content } of files) validated.add(hash(content ?? ''))
        await at.edge.swap(change)
      }
      const bad = [{ path: 'hosts/c.lab.test.conf', content: 'broken', secret: false }]
      await expect(at.edge.validate({ files: bad, expected: [] })).rejects.toMatchObject({ kind: 'change_invalid' })
      await at.edge.swap(await changeTo(await at.edge.filesWithout('a.lab.test')))
    }
    await at.edge.swap(await changeTo(await at.edge.filesWithout('b.lab.test')))
    const seen = await watcher.stop()
    expect(new Set(seen.names)).toEqual(new Set(['a.lab.test.conf', 'b.lab.test.conf']))
    expect(seen.written).toEqual([])
    expect(seen.hashes.length).toBeGreaterThan(0)
    expect(seen.hashes.filter((content) => !validated.has(content))).toEqual([])
  })
})

const hash = (content: string) => createHash('sha256').update(content).digest('hex')

/**
 * A program of its own that watches the folder by inotify and reads it all the time: every name that ever appeared, every
 * file that was written to where it stands, and the hash of every content that could be read.
 */
async function watchHosts() {
  const program = `
    const fs = require('node:fs'), { createHash } = require('node:crypto')
    const folder = process.argv[1], names = new Set(), written = new Set(), hashes = new Set()
    fs.watch(folder, (kind, name) => (kind === 'rename' ? names : written).add(name))
    const look = () => {
      for (const name of fs.readdirSync(folder)) {
        names.add(name)
        try { hashes.add(createHash('sha256').update(fs.readFileSync(folder + '/' + name)).digest('hex')) } catch {}
      }
    }
    const looking = setInterval(() => { for (let i = 0; i < 20; i++) look() }, 1)
    process.stdout.write('ready\\n')
    process.stdin.once('data', () => {
      clearInterval(looking)
      process.stdout.write(JSON.stringify({ names: [...names], written: [...written], hashes: [...hashes] }), () => process.exit())
    })`
  const watcher = execFile(process.execPath, ['--input-type=commonjs', '--eval', program, path('hosts')])
  let printed = ''
  watcher.stdout?.on('data', (text) => {
    printed += text
  })
  await until('the watcher watches', () => printed.startsWith('ready\n'))
  return {
    async stop(): Promise<{ names: string[]; written: string[]; hashes: string[] }> {
      watcher.stdin?.write('end\n')
      await once(watcher, 'close')
      return JSON.parse(printed.slice('ready\n'.length))
    },
  }
}

/** Root may write everywhere: so that a folder can be read-only, the rest is done as a user who owns only `folders`. */
async function asNobody(folders: readonly string[], work: () => Promise<void>): Promise<void> {
  const own = process.getuid?.()
  if (own !== 0) {
    chmodSync(path('hosts'), 0o555)
    await work().finally(() => chmodSync(path('hosts'), 0o755))
    return
  }
  for (const folder of folders) chownSync(path(folder), 65_534, 65_534)
  process.seteuid?.(65_534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
    for (const folder of folders) chownSync(path(folder), 0, 0)
  }
}
