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
import { GATHERED_FOLDERS } from '../../../src/edge/config/gathered.ts'
import { blockFile, linesFile } from '../../../src/edge/config/layout.ts'
import type { EdgeFile, EdgeProposal } from '../../../src/edge/contract.ts'
import { localEdge } from '../../../src/edge/local.ts'
import { PLAN_ID, proposalOf, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { editEntry } from '../../support/lab/entry-file.ts'
import { until } from '../../support/until.ts'

let at: TestEdge
beforeAll(async () => {
  at = await startTestEdge()
})
afterAll(() => at?.stop())
afterEach(() => expect(at.leftOvers()).toEqual([]))

const site = (host: string, more: object = {}) => ({ host, planId: PLAN_ID, target: 'http://127.0.0.1:9', ...more })
const path = (name: string) => join(at.folder, name)
const beside = (name: string) => join(dirname(at.config), name)
const ofHost = (host: string) => at.fileOf(linesFile(host))
const statusOf = async (host: string) => {
  const answer = await at.edge.ask({ host, path: '/', tls: false })
  return answer.kind === 'answer' ? answer.httpStatus : answer.reason
}
/** A change by what was seen before, and not by what stands when its generation begins. */
const seenBefore = async (files: readonly EdgeFile[]): Promise<Partial<EdgeProposal>> => {
  const expected = await at.edge.hashFiles(files.map((file) => file.path))
  return { propose: async () => ({ files, expected }) }
}
/** The keys of older generations may be removed at any time. */
const standing = () => [
  readFileSync(path('drawbridge.conf'), 'utf8'),
  ...readdirSync(path('generations')).toSorted(),
  ...listing(path('current')),
]
const block = (host: string, content: string | null): EdgeFile => ({ path: blockFile(host), content, secret: false })

describe('a change', () => {
  test('may be repeated, and so may a removal', async () => {
    const files = await at.edge.filesFor(
      site('again.lab.test', { certificate: await at.certificate('again.lab.test') }),
    )
    for (const _ of [1, 2]) await at.change(files)
    expect(await at.edge.read(files.map((file) => file.path))).toEqual(files)
    const removal = await at.edge.filesWithout('again.lab.test')
    expect(removal.map((file) => file.path).toSorted()).toEqual(files.map((file) => file.path).toSorted())
    for (const _ of [1, 2]) await at.change(removal)
    expect(GATHERED_FOLDERS.flatMap(at.keysOf)).toEqual([])
  })

  test("never overwrites somebody else's edit, and then writes nothing at all", async () => {
    await at.place(site('edited.lab.test'))
    const certificate = await at.certificate('edited.lab.test')
    const change = await seenBefore(await at.edge.filesFor(site('edited.lab.test', { certificate })))
    const removal = await seenBefore(await at.edge.filesWithout('edited.lab.test'))
    editEntry(ofHost('edited.lab.test'), 'edited.lab.test')
    const [text, generation] = [readFileSync(ofHost('edited.lab.test'), 'utf8'), at.generation()]
    for (const more of [change, removal])
      await expect(at.change([], more)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(readFileSync(ofHost('edited.lab.test'), 'utf8')).toBe(text)
    expect(at.generation()).toBe(generation)
    expect(at.keysOf('tls/keys-1')).toEqual([])
    await at.remove('edited.lab.test')
  })

  test.each([
    ['a link', (place: string) => symlinkSync(beside('victim'), place)],
    ['a link to nowhere', (place: string) => symlinkSync('/nowhere/at/all', place)],
    ['a folder', (place: string) => mkdirSync(place)],
  ])('does not follow %s where a file will be', async (_, plant) => {
    writeFileSync(beside('victim'), 'untouched.lab.test http://127.0.0.1:9;\n')
    const files = await at.edge.filesFor(site('planted.lab.test'))
    const seen = await seenBefore(files)
    const place = ofHost('planted.lab.test')
    plant(place)
    const before = lstatSync(place).ino
    for (const more of [seen, {}])
      await expect(at.change(files, more)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    const read = at.edge.read([linesFile('planted.lab.test')])
    if (lstatSync(place).isSymbolicLink())
      expect(await read).toMatchObject([{ content: null, link: readlinkSync(place) }])
    else await expect(read).rejects.toMatchObject({ kind: 'changed_meanwhile' })
    expect(lstatSync(place).ino).toBe(before)
    expect(readFileSync(beside('victim'), 'utf8')).toContain('untouched')
    rmSync(place, { recursive: true })
  })

  test('makes keys for their owner alone, whatever the umask', async () => {
    for (const umask of [0o000, 0o077]) {
      const before = process.umask(umask)
      await at.place(site('modes.lab.test', { certificate: await at.certificate('modes.lab.test') }))
      process.umask(before)
      const modeOf = (name: string) => statSync(path(`current/${name}`)).mode & 0o777
      for (const kind of GATHERED_FOLDERS) {
        const isSecret = kind.startsWith('tls/')
        expect(modeOf(kind), kind).toBe(isSecret ? 0o700 : 0o755)
        for (const name of readdirSync(path(`current/${kind}`)))
          expect(modeOf(`${kind}/${name}`), name).toBe(isSecret ? 0o600 : 0o644)
      }
      expect([modeOf(''), modeOf('tls')]).toEqual([0o755, 0o700])
      await at.remove('modes.lab.test')
    }
  })

  test('that may not write fails, and leaves nothing', async () => {
    const before = standing()
    await asNobody(['.staging'], async () => {
      await expect(at.place(site('readonly.lab.test'))).rejects.toMatchObject({
        kind: 'write_failed',
        message: expect.stringContaining('It takes the right to write in that folder.'),
      })
    })
    expect(standing()).toEqual(before)
  })

  test('takes no path that is not of an edge, and refuses nobody else for it', async () => {
    const expected = [{ path: '../nginx.conf', hash: hash(readFileSync(at.config, 'utf8')) }]
    const bad = ['../nginx.conf', 'drawbridge.conf', 'generations/1/backends/00.map'].map((name) => {
      const files = [{ path: name, content: 'x', secret: false }]
      return at.change(files, { propose: async () => ({ files, expected }) }).catch((error: Error) => error.message)
    })
    await at.place(site('beside.lab.test'))
    for (const message of await Promise.all(bad)) expect(message).toMatch(/is not (?:a path|gathered)/)
    await expect(at.edge.hashFiles(['hosts/../../nginx.conf'])).rejects.toThrow('not a path')
    await at.remove('beside.lab.test')
  })

  test('refuses what nginx refuses, touches nothing, and names the place and the kind only', async () => {
    const before = standing()
    const bad = block('bad.lab.test', '# made by hand\ncanary_directive secret-canary;\n')
    const file = at.fileOf(bad.path)
    await expect(at.change([bad])).rejects.toMatchObject({
      kind: 'change_invalid',
      message: `nginx on edge 23 rejected the change: a directive is unknown (${file}, line 4). Nothing was changed.`,
    })
    expect(standing()).toEqual(before)
    await at.edge.assertValid()
  })

  test('is tested as what stands after it: a broken entry can be replaced and removed', async () => {
    for (const content of [null, '# well again\n']) {
      await at.change([block('bad.lab.test', '# to be broken\n')])
      const file = at.fileOf(blockFile('bad.lab.test'))
      writeFileSync(file, readFileSync(file, 'utf8').replace('# to be broken', 'broken'))
      await expect(at.edge.assertValid()).rejects.toMatchObject({ kind: 'config_broken' })
      await at.change([block('bad.lab.test', content)])
      await at.edge.assertValid()
    }
    await at.change([block('bad.lab.test', null)])
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
    await expect(edge.change(proposalOf(edge, () => edge.filesFor(site('early.lab.test'))))).rejects.toMatchObject({
      kind: 'unavailable',
    })
    // The lock says whether an agent owns the folder.
    expect(readdirSync(folder)).toEqual(['.engine-lock'])
    rmSync(folder, { recursive: true })
  })
})

describe('the files that nginx loads', () => {
  test('are at any instant those of one whole generation, which is never written to', async () => {
    const watcher = await watchBase()
    for (const round of [1, 2, 3]) {
      for (const host of ['a.lab.test', 'b.lab.test'])
        await at.place(site(host, { target: `http://127.0.0.1:${round}` }))
      await expect(at.change([block('c.lab.test', 'broken')])).rejects.toMatchObject({ kind: 'change_invalid' })
      await at.remove('a.lab.test')
    }
    await at.remove('b.lab.test')
    const seen = await watcher.stop()
    expect(seen.bases).toBeGreaterThan(3)
    expect(seen.changed).toEqual([])
    expect(seen.broken).toEqual([])
  })
})

const hash = (content: string) => createHash('sha256').update(content).digest('hex')

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
  const own = process.getuid?.()
  if (own !== 0) {
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
