import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import type { Expected } from '../../../src/edge/contract/change.ts'
import { FolderLock } from '../../../src/edge/fences/folder-lock.ts'
import { isSecretFile, SHARD_FOLDERS } from '../../../src/nginx/config/shards.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import {
  changeHost,
  entryOf,
  PLAN_ID,
  placeSite,
  type Site,
  snippetFile,
  startTestEdge,
  type TestEdge,
} from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { editEntry } from '../../support/lab/entry-file.ts'
import { until } from '../../support/until.ts'

let at: TestEdge
beforeAll(async () => {
  at = await startTestEdge(['broken'])
  writeFileSync(snippetFile(at, 'broken'), '# by the administrator\ncanary_directive secret-canary;\n')
})
afterAll(() => at?.stop())
afterEach(() => expect(at.leftOvers()).toEqual([]))

const site = (host: string, more: Partial<Site> = {}): Site => ({
  ...{ host, planId: PLAN_ID, target: 'http://127.0.0.1:9', proof: 'ab'.repeat(32) },
  ...more,
})
/** An entry that nginx refuses: it names a file of the administrator that nginx does not understand. */
const refused = (host: string) => site(host, { options: { snippets: ['broken'] } })
const path = (name: string) => join(at.folder, name)
const beside = (name: string) => join(dirname(at.config), name)
const ofHost = (host: string) => at.fileOf('backends', host)
const statusOf = async (host: string) => {
  const answer = await at.edge.ask({ host, path: '/', tls: false })
  return answer.kind === 'answer' ? answer.httpStatus : answer.reason
}
const listed = async (host: string) => (await at.edge.list([host])).hosts[0]
/** The keys of older generations may be removed at any time. */
const standing = () => [
  readFileSync(path('drawbridge.conf'), 'utf8'),
  ...readdirSync(path('generations')).toSorted(),
  ...listing(path('current')),
]

describe('a change', () => {
  test('may be repeated, and so may a removal', async () => {
    const wanted = site('again.lab.test', { certificate: await at.certificate('again.lab.test') })
    await at.place(wanted)
    const generation = at.generation()
    await at.place(wanted)
    expect(at.generation()).toBe(generation)
    expect(await listed('again.lab.test')).toMatchObject({ entry: entryOf(wanted), drift: [] })
    for (const _ of [1, 2]) await at.remove('again.lab.test')
    expect(at.generation()).toBe(generation + 1)
    expect(SHARD_FOLDERS.flatMap(at.keysOf)).toEqual([])
    expect(await listed('again.lab.test')).toMatchObject({ entry: null, revision: null, drift: [] })
  })

  test("never overwrites somebody else's edit, and then writes nothing at all", async () => {
    await at.place(site('edited.lab.test'))
    const { revision } = (await listed('edited.lab.test')) ?? {}
    const certificate = await at.certificate('edited.lab.test')
    editEntry(ofHost('edited.lab.test'), 'edited.lab.test')
    const [text, generation] = [readFileSync(ofHost('edited.lab.test'), 'utf8'), at.generation()]
    const seenBefore: Expected = { revision: revision ?? '' }
    for (const expected of [seenBefore, 'any'] as const)
      for (const change of [
        () => at.place(site('edited.lab.test', { certificate }), { expected }),
        () => at.remove('edited.lab.test', { expected }),
      ])
        await expect(change()).rejects.toMatchObject({ kind: 'changed_elsewhere' })
    expect(readFileSync(ofHost('edited.lab.test'), 'utf8')).toBe(text)
    expect(at.generation()).toBe(generation)
    expect(at.keysOf('tls/keys-1')).toEqual([])
    await at.remove('edited.lab.test', { mend: true })
  })

  test('by what was seen before is refused when the entry has become another one', async () => {
    await at.place(site('moved.lab.test'))
    const expected = { revision: (await listed('moved.lab.test'))?.revision ?? '' }
    await at.place(site('moved.lab.test', { target: 'http://127.0.0.1:10' }))
    const generation = at.generation()
    for (const change of [
      () => at.place(site('moved.lab.test', { target: 'http://127.0.0.1:11' }), { expected }),
      () => at.place(site('moved.lab.test', { target: 'http://127.0.0.1:11' }), { expected: 'absent' }),
      () => at.remove('moved.lab.test', { expected }),
    ])
      await expect(change()).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(at.generation()).toBe(generation)
    await at.remove('moved.lab.test')
  })

  test.each([
    ['a link', (place: string) => symlinkSync(beside('victim'), place)],
    ['a link to nowhere', (place: string) => symlinkSync('/nowhere/at/all', place)],
    ['a folder', (place: string) => mkdirSync(place)],
  ])('does not write through %s where a file will be, and puts a file there', async (_, plant) => {
    const text = 'untouched.lab.test http://127.0.0.1:9;\n'
    writeFileSync(beside('victim'), text)
    const place = ofHost('planted.lab.test')
    plant(place)
    const [planted, before] = [realpathSync(dirname(place)), lstatSync(place).ino]
    await at.place(site('planted.lab.test'))
    expect(lstatSync(join(planted, basename(place))).ino).toBe(before)
    expect(readFileSync(beside('victim'), 'utf8')).toBe(text)
    expect(lstatSync(place).isFile()).toBe(true)
    expect(await statusOf('planted.lab.test')).toBe(502)
    await at.remove('planted.lab.test')
    rmSync(place, { force: true })
  })

  test('makes keys for their owner alone, whatever the umask', async () => {
    for (const umask of [0o000, 0o077]) {
      const before = process.umask(umask)
      await at.place(site('modes.lab.test', { certificate: await at.certificate('modes.lab.test') }))
      process.umask(before)
      const modeOf = (name: string) => statSync(path(`current/${name}`)).mode & 0o777
      for (const kind of SHARD_FOLDERS) {
        expect(modeOf(kind), kind).toBe(kind.startsWith('tls/') ? 0o700 : 0o755)
        for (const name of readdirSync(path(`current/${kind}`)))
          expect(modeOf(`${kind}/${name}`), name).toBe(isSecretFile(`${kind}/${name}`) ? 0o600 : 0o644)
      }
      expect([modeOf(''), modeOf('tls')]).toEqual([0o755, 0o700])
      for (const name of ['entries', 'tls/keys-1', 'tls/certificates-1', 'tls/hosts'])
        expect(readdirSync(path(`current/${name}`)).filter((file) => isSecretFile(`${name}/${file}`))).toHaveLength(1)
      for (const line of listing(path('pairs'))) expect(line).toMatch(/\/ 700$|\.pem 600 /)
      expect(statSync(path('pairs')).mode & 0o777).toBe(0o700)
      await at.remove('modes.lab.test')
    }
  })

  test('that may not write fails, and leaves nothing', async () => {
    const before = standing()
    await asNobody(['.staging'], async () => {
      await expect(at.place(site('readonly.lab.test'))).rejects.toMatchObject({
        kind: 'write_failed',
        message: expect.stringContaining('could not be read or written (EACCES)'),
      })
      // An ordinary user owns the lock of its own folder.
      if (isRoot())
        expect(() => new FolderLock(at.folder, '23').take()).toThrow('It takes the right to write in that folder.')
    })
    expect(standing()).toEqual(before)
  })

  test('takes only records of the grammar for hosts, and refuses nobody else for it', async () => {
    const entry = entryOf(site('beside.lab.test'))
    const [target] = entry.targets
    const bad = [
      changeHost(at.edge, '../nginx.conf', 'absent'),
      changeHost(at.edge, '../nginx.conf', { ...entry, host: '../nginx.conf' }),
      changeHost(at.edge, 'other.lab.test', entry),
      changeHost(at.edge, 'beside.lab.test', 'absent', { fence: { host: 'other.lab.test', epoch: 0, number: 0 } }),
      changeHost(at.edge, 'beside.lab.test', { ...entry, targets: [{ ...target, address: '127.0.0.1; canary on' }] }),
      changeHost(at.edge, 'beside.lab.test', { ...entry, options: { maxBody: '1m; canary on' } }),
    ].map((change) => change.then(() => 'made').catch((error: { kind?: string }) => error.kind))
    await at.place(site('neighbour.lab.test'))
    expect(new Set(await Promise.all(bad))).toEqual(new Set(['change_invalid']))
    expect(at.keysOf('entries')).toEqual(['neighbour.lab.test'])
    await expect(at.edge.list(['hosts/../../nginx.conf'])).rejects.toThrow('not a valid host name')
    await at.remove('neighbour.lab.test')
  })

  test('refuses what nginx refuses, touches nothing, and names the place and the kind only', async () => {
    const before = standing()
    const file = snippetFile(at, 'broken')
    await expect(at.place(refused('bad.lab.test'))).rejects.toMatchObject({
      kind: 'change_invalid',
      message: `nginx on edge 23 rejected the change: a directive is unknown (${file}, line 2). Nothing was changed.`,
    })
    expect(standing()).toEqual(before)
    await at.edge.assertValid()
  })

  test('is tested as what stands after it: a broken entry can be replaced and removed', async () => {
    const own = site('bad.lab.test', { options: { maxBody: '1m' } })
    const mendings = [() => at.place(own, { mend: true }), () => at.remove('bad.lab.test', { mend: true })]
    for (const mend of mendings) {
      await at.place(own)
      editEntry(at.fileOf('blocks', 'bad.lab.test'), 'bad.lab.test', 'broken on;')
      await expect(at.edge.assertValid()).rejects.toMatchObject({ kind: 'config_broken' })
      await mend()
      await at.edge.assertValid()
    }
    expect(at.keysOf('blocks')).toEqual([])
  })

  test("tells somebody else's broken file from a broken change", async () => {
    const foreign = join(at.folder, 'foreign.conf')
    writeFileSync(foreign, 'secret_canary on;\n')
    const before = standing()
    for (const begin of [() => at.edge.assertValid(), () => at.place(site('good.lab.test'))]) {
      const attempt = begin()
      await expect(attempt).rejects.toMatchObject({
        kind: 'config_broken',
        message: expect.stringContaining(`(${foreign}, line 1)`),
      })
      await expect(attempt).rejects.not.toThrow('canary')
    }
    expect(standing()).toEqual(before)
    rmSync(foreign)
    await at.place(site('good.lab.test'))
  })

  test('mends a base file that no longer includes the hosts, or is gone, and loses none', async () => {
    const base = path('drawbridge.conf')
    const damages = [
      () => writeFileSync(base, readFileSync(base, 'utf8').replaceAll(/include \S+backends\S+/g, '')),
      () => writeFileSync(base, '# by hand\n'),
      () => rmSync(base),
    ]
    for (const damage of damages) {
      damage()
      await at.place(site('seen.lab.test'))
      expect([await statusOf('seen.lab.test'), await statusOf('good.lab.test')]).toEqual([502, 502])
      await at.remove('seen.lab.test')
    }
  })

  test('says which line the main file lacks', async () => {
    const main = readFileSync(at.config, 'utf8')
    writeFileSync(at.config, main.replace('include drawbridge/*.conf;', '# include drawbridge/*.conf;'))
    await expect(at.place(site('left-out.lab.test'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: `nginx does not include Drawbridge's folder. Add "include ${at.folder}/*.conf;" to the http block of ${at.config}.`,
    })
    writeFileSync(at.config, main.replace('include drawbridge/*.conf;', `include "${at.folder}/*.conf";`))
    await at.place(site('left-out.lab.test'))
    writeFileSync(at.config, main)
  })

  test('before the edge was prepared is refused', async () => {
    const folder = join(dirname(at.folder), 'empty')
    mkdirSync(folder)
    const edge = localEdge({ ...at, folder })
    await expect(placeSite(edge, site('early.lab.test'))).rejects.toMatchObject({ kind: 'unavailable' })
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

describe('the files that nginx loads', () => {
  test('are at any instant those of one whole generation, which is never written to', async () => {
    const watcher = await watchBase()
    for (const round of [1, 2, 3]) {
      for (const host of ['a.lab.test', 'b.lab.test'])
        await at.place(site(host, { target: `http://127.0.0.1:${round}` }))
      await expect(at.place(refused('c.lab.test'))).rejects.toMatchObject({ kind: 'change_invalid' })
      await at.remove('a.lab.test')
    }
    await at.remove('b.lab.test')
    const seen = await watcher.stop()
    expect(seen.bases).toBeGreaterThan(3)
    expect(seen.changed).toEqual([])
    expect(seen.broken).toEqual([])
  })
})

/**
 * A program of its own that reads the base file and what it includes all the time: how many different ones it saw, the
 * generations of which a file changed while they were included, and those that lacked a file or had a bad one.
 */
async function watchBase() {
  const program = `
    const fs = require('node:fs')
    const base = process.argv[1], seen = new Map(), changed = new Set(), broken = new Set()
    const look = () => {
      const text = fs.readFileSync(base, 'utf8')
      const [, folder] = /include (\\S+)\\/backends/.exec(text) ?? []
      let all = ''
      try {
        for (const kind of ['backends', 'names-http', 'blocks'])
          for (const name of fs.readdirSync(folder + '/' + kind)) all += name + fs.readFileSync(folder + '/' + kind + '/' + name, 'utf8')
      } catch (error) {
        if (fs.readFileSync(base, 'utf8') === text) broken.add(folder + ': ' + error.code)
        return
      }
      if (all.includes('broken')) broken.add(folder)
      if (seen.has(folder) && seen.get(folder) !== all) changed.add(folder)
      seen.set(folder, all)
    }
    const looking = setInterval(() => { for (let i = 0; i < 20; i++) look() }, 1)
    process.stdout.write('ready\\n')
    process.stdin.once('data', () => {
      clearInterval(looking)
      process.stdout.write(JSON.stringify({ bases: seen.size, changed: [...changed], broken: [...broken] }), () => process.exit())
    })`
  const watcher = execFile(process.execPath, ['--input-type=commonjs', '--eval', program, path('drawbridge.conf')])
  let printed = ''
  watcher.stdout?.on('data', (text) => {
    printed += text
  })
  await until('the watcher watches', () => printed.startsWith('ready\n'))
  return {
    async stop(): Promise<{ bases: number; changed: string[]; broken: string[] }> {
      watcher.stdin?.write('end\n')
      await once(watcher, 'close')
      return JSON.parse(printed.slice('ready\n'.length))
    },
  }
}

/** Root may write everywhere: so that a folder can be read-only, the rest is done as a user who owns only `folders`. */
async function asNobody(folders: readonly string[], work: () => Promise<void>): Promise<void> {
  if (!isRoot()) {
    chmodSync(path('generations'), 0o555)
    await work().finally(() => chmodSync(path('generations'), 0o755))
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
