import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { InstalledNames } from '../../../src/certificates/stock/installed-names.ts'
import { certificateInventory } from '../../../src/certificates/stock/inventory.ts'
import { digest } from '../../../src/certificates/stock/issued-files.ts'
import { type CertificateWish, encryptKey, makeCertificate } from '../../support/edge/openssl.ts'
import { freshFolder } from '../../support/fresh.ts'

const DAY = 24 * 60 * 60 * 1000

const at = freshFolder()

const inventory = () => certificateInventory([at()])

const make = (label: string, names: string[], more: Partial<CertificateWish> = {}) =>
  makeCertificate({ certificate: at(`${label}.pem`), key: at(`${label}.key`), names, ...more })

/** As a plan asks, after the certificate became valid: openssl counts whole seconds. */
const covering = (host: string, now = Date.now() + 2_000, from = inventory()) => from.covering(host, now)

describe('what covers a host', () => {
  test.each<[string, string[], string, boolean | undefined]>([
    ['the exact name', ['DNS:app.lab.test'], 'app.lab.test', false],
    ['the exact name in another case', ['DNS:APP.Lab.Test'], 'app.lab.test', false],
    ['one name of several', ['DNS:a.test', 'IP:127.0.0.1', 'DNS:app.lab.test'], 'app.lab.test', false],
    ['a wildcard', ['DNS:*.lab.test'], 'app.lab.test', true],
    ['a wildcard, for an internationalized label', ['DNS:*.lab.test'], 'xn--bcher-kva.lab.test', true],
    ['a wildcard, but not two labels deep', ['DNS:*.lab.test'], 'a.app.lab.test', undefined],
    ['a wildcard, but not its own parent', ['DNS:*.lab.test'], 'lab.test', undefined],
    ['no part of a label', ['DNS:a*.lab.test'], 'app.lab.test', undefined],
    ['no parent', ['DNS:lab.test'], 'app.lab.test', undefined],
    ['no other kind of name', ['email:app.lab.test', 'URI:app.lab.test'], 'app.lab.test', undefined],
  ])('%s', async (_, names, host, byWildcard) => {
    await make('one', names)
    expect((await covering(host))?.byWildcard).toBe(byWildcard)
  })

  test('the common name covers no host', async () => {
    await make('one', [], { commonName: 'app.lab.test' })
    await make('two', ['DNS:other.test'], { commonName: 'app.lab.test' })
    expect(await covering('app.lab.test')).toBeUndefined()
  })

  test('not a certificate for clients only', async () => {
    await make('client', ['DNS:app.lab.test'], { extensions: ['extendedKeyUsage=clientAuth'] })
    expect(await covering('app.lab.test')).toBeUndefined()
    await make('server', ['DNS:app.lab.test'], { extensions: ['extendedKeyUsage=serverAuth'] })
    expect((await covering('app.lab.test'))?.certificateFile).toBe(at('server.pem'))
  })

  test('every certificate that was issued here, however many files there are', async () => {
    await mkdir(at('issued'))
    // They come before the pair in a listing by name and, as they were made first, in one by inode.
    for (let i = 0; i < 9; i += 1) writeFileSync(at('issued', `a-${i}.pem`), '')
    await make('issued/z', ['DNS:app.lab.test'])
    const from = certificateInventory([], { issued: at('issued'), mostFiles: 5 })
    expect((await covering('app.lab.test', undefined, from))?.certificateFile).toBe(at('issued', 'z.pem'))
  })

  describe('by the names that were installed since', () => {
    const HOST = 'one.lab.test'
    const place = (name: string) => mkdir(at('issued', name), { recursive: true })
    const indexed = () => {
      const installed = new InstalledNames()
      return { installed, from: certificateInventory([], { issued: at('issued'), installed }) }
    }

    test('issued certificates: of all folders only those of new names are read', async () => {
      const { installed, from } = indexed()
      await place(HOST)
      await make(`issued/${HOST}/first`, [`DNS:${HOST}`])
      expect((await covering(HOST, undefined, from))?.names).toEqual([HOST])
      for (const name of ['two', '_wildcard']) {
        await place(`${name}.lab.test`)
        await make(`issued/${name}.lab.test/pair`, [`DNS:${name.replace('_wildcard', '*')}.lab.test`])
      }
      expect(await covering('two.lab.test', undefined, from)).toBeUndefined()
      installed.add('*.lab.test')
      expect((await covering('two.lab.test', undefined, from))?.names).toEqual(['*.lab.test'])
      installed.add('two.lab.test')
      expect((await covering('two.lab.test', undefined, from))?.names).toEqual(['two.lab.test'])
    })

    test('the former pair of a name, too, wherever it is by now', async () => {
      const { installed, from } = indexed()
      await place(HOST)
      await make(`issued/${HOST}/former`, [`DNS:${HOST}`], { days: 20 })
      const former = await covering(HOST, undefined, from)
      await make('new', [`DNS:${HOST}`], { days: 90 })
      const aside = at('issued', `.previous-${digest(HOST)}`)
      renameSync(at('issued', HOST), aside)
      await place(HOST)
      for (const file of ['new.pem', 'new.key']) renameSync(at(file), at('issued', HOST, file))
      // Nobody has told yet: the files of the pair that was found are not there any more.
      expect((await from.withFingerprint(former?.fingerprint ?? ''))?.certificateFile).toBe(join(aside, 'former.pem'))
      installed.add(HOST)
      expect((await covering(HOST, undefined, from))?.certificateFile).toBe(at('issued', HOST, 'new.pem'))
      expect((await from.withFingerprint(former?.fingerprint ?? ''))?.certificateFile).toBe(join(aside, 'former.pem'))
    })

    test('no certificate whose files have gone or were changed', async () => {
      const { from } = indexed()
      await place(HOST)
      await make(`issued/${HOST}/first`, [`DNS:${HOST}`])
      const found = await covering(HOST, undefined, from)
      rmSync(found?.keyFile ?? '')
      expect(await covering(HOST, undefined, from)).toBeUndefined()
      expect(await from.withFingerprint(found?.fingerprint ?? '')).toBeUndefined()
    })

    test('all that stand when every host or every problem is asked for', async () => {
      const { from } = indexed()
      await place(HOST)
      await make(`issued/${HOST}/first`, [`DNS:${HOST}`])
      await covering(HOST, undefined, from)
      await place('two.lab.test')
      await make('issued/two.lab.test/second', ['DNS:two.lab.test'])
      rmSync(at('issued', HOST), { recursive: true })
      expect([...(await from.coveringEach([HOST, 'two.lab.test'], Date.now() + 2_000)).keys()]).toEqual([
        'two.lab.test',
      ])
    })
  })

  test('the files up to a limit in a folder of others, which says that it was cut', async () => {
    for (const label of ['a', 'b', 'c']) await make(label, [`DNS:${label}.lab.test`])
    const from = certificateInventory([at()], { mostFiles: 5 })
    expect(await from.findings(Date.now() + 2_000)).toContainEqual({
      kind: 'too_many_files',
      path: at(),
      names: [],
      sentence: 'The folder has 6 files. Only 5 of them are read, so certificates may be missing.',
    })
    expect(await certificateInventory([at()], { mostFiles: 6 }).findings(Date.now() + 2_000)).toEqual([])
  })

  test('only inside its time', async () => {
    await make('one', ['DNS:app.lab.test'], { days: 10 })
    const now = Date.now()
    expect(await covering('app.lab.test', now - DAY)).toBeUndefined()
    expect(await covering('app.lab.test', now + 9 * DAY)).toBeDefined()
    expect(await covering('app.lab.test', now + 11 * DAY)).toBeUndefined()
  })

  test('the exact one before the wildcard, then the one that lasts longest', async () => {
    await make('wild', ['DNS:*.lab.test'], { days: 90 })
    await make('short', ['DNS:app.lab.test'], { days: 10 })
    await make('long', ['DNS:app.lab.test'], { days: 20 })
    const from = inventory()
    expect((await covering('app.lab.test', undefined, from))?.certificateFile).toBe(at('long.pem'))
    expect((await covering('other.lab.test', undefined, from))?.certificateFile).toBe(at('wild.pem'))
    expect((await covering('app.lab.test', Date.now() + 15 * DAY, from))?.certificateFile).toBe(at('long.pem'))
    expect((await covering('app.lab.test', Date.now() + 30 * DAY, from))?.certificateFile).toBe(at('wild.pem'))
  })

  test('described by names, time and fingerprint', async () => {
    await make('one', ['DNS:App.lab.test', 'DNS:*.app.lab.test', 'IP:127.0.0.1'], { days: 10 })
    const found = await covering('app.lab.test')
    const fingerprint = execFileSync('openssl', ['x509', '-in', at('one.pem'), '-noout', '-fingerprint', '-sha256'], {
      encoding: 'utf8',
    })
    expect(found).toMatchObject({ names: ['app.lab.test', '*.app.lab.test'], keyFile: at('one.key') })
    expect(fingerprint).toContain(found?.fingerprint)
    expect(Math.abs((found?.notAfter.getTime() ?? 0) - Date.now() - 10 * DAY)).toBeLessThan(DAY)
  })
})

describe('where certificates and keys are found', () => {
  test.each([
    ['EC', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['RSA', ['rsa:2048']],
    ['Ed25519', ['ed25519']],
  ])('an %s key is told by its public half, whatever the files are called', async (_, newKey) => {
    await make('one', ['DNS:app.lab.test'], { newKey })
    renameSync(at('one.pem'), at('some text file.txt'))
    renameSync(at('one.key'), at('zzz'))
    expect(await covering('app.lab.test')).toMatchObject({
      certificateFile: at('some text file.txt'),
      keyFile: at('zzz'),
    })
  })

  test('not without its key, nor with another', async () => {
    await make('one', ['DNS:app.lab.test'])
    await make('two', ['DNS:other.test'])
    rmSync(at('one.key'))
    expect(await covering('app.lab.test')).toBeUndefined()
    expect(await covering('other.test')).toBeDefined()
  })

  test('together in one file', async () => {
    await make('one', ['DNS:app.lab.test'])
    writeFileSync(at('both.pem'), readFileSync(at('one.key'), 'utf8') + readFileSync(at('one.pem'), 'utf8'))
    rmSync(at('one.key'))
    rmSync(at('one.pem'))
    expect(await covering('app.lab.test')).toMatchObject({ certificateFile: at('both.pem'), keyFile: at('both.pem') })
  })

  test('as certbot lays them out: links in a folder per name, the chain in the longest file', async () => {
    await mkdir(at('archive'))
    await mkdir(at('live', 'app.lab.test'), { recursive: true })
    await make('archive/cert1', ['DNS:app.lab.test'])
    await make('archive/chain1', ['DNS:issuer.test'])
    writeFileSync(
      at('archive', 'fullchain1.pem'),
      readFileSync(at('archive', 'cert1.pem'), 'utf8') + readFileSync(at('archive', 'chain1.pem'), 'utf8'),
    )
    const link = (from: string, to: string) =>
      symlinkSync(join('..', '..', 'archive', to), at('live', 'app.lab.test', from))
    link('cert.pem', 'cert1.pem')
    link('fullchain.pem', 'fullchain1.pem')
    link('privkey.pem', 'cert1.key')
    writeFileSync(at('live', 'README'), 'This directory contains your keys and certificates.')
    const from = certificateInventory([at('live')])
    expect(await covering('app.lab.test', undefined, from)).toMatchObject({
      certificateFile: at('live', 'app.lab.test', 'fullchain.pem'),
      keyFile: at('live', 'app.lab.test', 'privkey.pem'),
    })
    expect(await from.findings(Date.now())).toMatchObject([{ kind: 'chain_broken', names: ['app.lab.test'] }])
  })

  test('in several folders, of which one may be missing, but no deeper than one level', async () => {
    await mkdir(at('a', 'deep', 'deeper'), { recursive: true })
    await mkdir(at('b'))
    await make('a/deep/deeper/one', ['DNS:deep.lab.test'])
    await make('b/two', ['DNS:app.lab.test'])
    renameSync(at('b', 'two.key'), at('a', 'two.key'))
    const from = certificateInventory([at('a'), at('b'), at('missing')])
    expect(await covering('app.lab.test', undefined, from)).toBeDefined()
    expect(await covering('deep.lab.test', undefined, from)).toBeUndefined()
    expect(await covering('app.lab.test', undefined, certificateInventory([]))).toBeUndefined()
  })
})

describe('a change in the folder is seen', () => {
  test('a certificate that comes, is replaced, and goes', async () => {
    const from = inventory()
    const fingerprint = async () => (await covering('app.lab.test', undefined, from))?.fingerprint
    expect(await fingerprint()).toBeUndefined()
    await make('one', ['DNS:app.lab.test'])
    const first = await fingerprint()
    expect(first).toBeDefined()
    await make('one', ['DNS:app.lab.test'])
    expect(await fingerprint()).not.toBe(first)
    rmSync(at('one.key'))
    expect(await fingerprint()).toBeUndefined()
  })

  test('a file that did not change is not read again', async () => {
    const from = inventory()
    await make('one', ['DNS:app.lab.test'])
    utimesSync(at('one.pem'), 1, 1)
    const before = await covering('app.lab.test', undefined, from)
    const size = readFileSync(at('one.pem')).length
    writeFileSync(at('one.pem'), Buffer.alloc(size, 'x'))
    utimesSync(at('one.pem'), 1, 1)
    writeFileSync(at('news.txt'), 'another file')
    expect(await covering('app.lab.test', undefined, from)).toEqual(before)
    utimesSync(at('one.pem'), 2, 2)
    expect(await covering('app.lab.test', undefined, from)).toBeUndefined()
  })
})

describe('what cannot be used is passed over, remembered, and stops nothing', () => {
  const SECRET = 'c2VjcmV0LWNhbmFyeQ=='

  test.each<[string, (path: string) => void | Promise<void>, RegExp]>([
    [
      'a broken certificate',
      (path) => writeFileSync(path, pem('CERTIFICATE')),
      /has a certificate that cannot be read/,
    ],
    ['a broken key', (path) => writeFileSync(path, pem('PRIVATE KEY')), /has a private key that cannot be read/],
    [
      'a file cut off',
      (path) => writeFileSync(path, `-----BEGIN CERTIFICATE-----\n${SECRET}\n`),
      /has incomplete PEM text/,
    ],
    ['a huge file', hugeFile, /is larger than 256 KiB/],
    ['an encrypted key', (path) => encryptKey(at('one.key'), path), /has an encrypted private key/],
    [
      'an encrypted key of the old form',
      (path) => encryptKey(at('one.key'), path, true),
      /has an encrypted private key/,
    ],
  ])('%s', async (_, write, sentence) => {
    await make('one', ['DNS:app.lab.test'])
    await write(at('bad.pem'))
    const from = inventory()
    expect(await covering('app.lab.test', undefined, from)).toBeDefined()
    const findings = await from.findings(Date.now() + 2_000)
    expect(findings).toEqual([
      { kind: 'unreadable', path: at('bad.pem'), names: [], sentence: expect.stringMatching(sentence) },
    ])
    expect(JSON.stringify(findings)).not.toContain(SECRET)
  })

  test('a pipe, a link to nowhere and a text are not even that', async () => {
    await make('one', ['DNS:app.lab.test'])
    execFileSync('mkfifo', [at('pipe.pem')])
    symlinkSync(at('nowhere'), at('dangling.pem'))
    writeFileSync(at('notes.txt'), 'no PEM here')
    const from = inventory()
    expect(await covering('app.lab.test', undefined, from)).toBeDefined()
    expect(await from.findings(Date.now() + 2_000)).toEqual([])
  })

  const pem = (label: string) => `-----BEGIN ${label}-----\n${SECRET}\n-----END ${label}-----\n`
  function hugeFile(path: string): void {
    writeFileSync(path, pem('CERTIFICATE'))
    truncateSync(path, 2 ** 32)
  }
})

describe('findings', () => {
  const soon = () => Date.now() + 2_000
  const findings = async (now = soon()) =>
    (await inventory().findings(now)).map(({ kind, path, names }) => [kind, path, ...names])

  test('a certificate without its key, and nothing about one that has it', async () => {
    await make('one', ['DNS:app.lab.test'])
    await make('two', ['DNS:other.test'])
    expect(await findings()).toEqual([])
    rmSync(at('one.key'))
    expect(await findings()).toEqual([['no_key', at('one.pem'), 'app.lab.test']])
  })

  test('one that ends soon, has ended, or has not begun, unless a later one takes its place', async () => {
    await make('one', ['DNS:app.lab.test'], { days: 9 })
    const now = Date.now()
    expect(await findings(now + 5 * DAY)).toEqual([])
    expect(await findings(now + 7 * DAY)).toEqual([['expiring', at('one.pem'), 'app.lab.test']])
    expect(await findings(now + 10 * DAY)).toEqual([['expired', at('one.pem'), 'app.lab.test']])
    expect(await findings(now - DAY)).toEqual([['not_yet_valid', at('one.pem'), 'app.lab.test']])
    await make('two', ['DNS:app.lab.test'], { days: 90 })
    expect(await findings(now + 10 * DAY)).toEqual([])
  })
})

describe('what Drawbridge issued and what an administrator placed', () => {
  test('are told apart, and found by their fingerprint', async () => {
    await mkdir(at('issued', 'app.lab.test'), { recursive: true })
    await mkdir(at('placed'))
    await make('issued/app.lab.test/one', ['DNS:app.lab.test'])
    await make('placed/two', ['DNS:other.test'])
    const from = certificateInventory([at('placed')], { issued: at('issued') })
    const issued = await covering('app.lab.test', undefined, from)
    expect([issued?.issued, (await covering('other.test', undefined, from))?.issued]).toEqual([true, false])
    expect(await from.withFingerprint(issued?.fingerprint ?? '')).toMatchObject({ names: ['app.lab.test'] })
    rmSync(at('issued'), { recursive: true })
    expect(await from.withFingerprint(issued?.fingerprint ?? '')).toBeUndefined()
  })

  test('a pair that goes while another caller has the folders listed is not told of afterwards', async () => {
    await make('one', ['DNS:app.lab.test'])
    const pair = ['one.pem', 'one.key'].map((name) => ({ path: at(name), text: readFileSync(at(name)) }))
    const told: unknown[] = []
    // One of the turns falls between the listing of the first caller and its end.
    for (let turns = 0; turns < 30; turns += 1) {
      for (const { path, text } of pair) writeFileSync(path, text)
      const from = inventory()
      const first = covering('app.lab.test', undefined, from)
      for (let turn = 0; turn < turns; turn += 1) await nextTurn()
      for (const { path } of pair) rmSync(path)
      told.push(await covering('app.lab.test', undefined, from))
      await first
    }
    expect(told.filter((found) => found !== undefined)).toEqual([])
  })

  test('where a zone wants a wildcard, it goes before the exact name', async () => {
    await make('exact', ['DNS:app.lab.test'], { days: 90 })
    await make('wild', ['DNS:*.lab.test'])
    const from = certificateInventory([at()], { prefersWildcard: (host) => host.endsWith('.lab.test') })
    expect((await covering('app.lab.test', undefined, from))?.certificateFile).toBe(at('wild.pem'))
    rmSync(at('wild.key'))
    expect((await covering('app.lab.test', undefined, from))?.certificateFile).toBe(at('exact.pem'))
  })
})
