import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bundledFolders } from '../../../packaging/notices.ts'
import { billOfMaterials } from '../../../packaging/release/bill.ts'
import { campaignsIn, type Facts, refusals } from '../../../packaging/release/conditions.ts'
import { factsOf } from '../../../packaging/release/facts.ts'
import { notesOf, writeSums } from '../../../packaging/release/papers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

const TABLE = '\n### Campaigns\n| name | what | takes |\n|---|---|---|\n| `soak` | it renews | 10 min (1234567) |\n'
const READY: Facts = {
  version: '1.2.3',
  lockVersion: '1.2.3',
  compose: '    image: drawbridge:1.2.3\n',
  changelog: '# Changes\n\n## 1.2.3 (2030-01-31)\n### New\n- A line.\n\n## 1.2.2 (2030-01-01)\n',
  contributing: TABLE,
  mustHold: [],
  uncommitted: [],
  head: 'a'.repeat(40),
  tagged: undefined,
  changedSince: () => [],
  canSign: (key) => key === 'own',
}

describe('a release is refused', () => {
  test('not if everything is true, nor when its tag is there already', () => {
    expect(refusals(READY, 'own')).toEqual([])
    expect(refusals({ ...READY, tagged: READY.head }, 'own')).toEqual([])
  })

  test.each<[string, Partial<Facts>, string]>([
    ['another version in the lockfile', { lockVersion: '1.2.2' }, 'package-lock.json has version 1.2.2'],
    ['another version of the image', { compose: '    image: drawbridge:1.2.2\n' }, 'compose.yaml names version 1.2.2'],
    ['no compose file', { compose: '' }, 'compose.yaml names version undefined'],
    ['changes of the next version', { changelog: '## 1.3.0 (not released)\n' }, 'begins with "1.3.0 (not released)"'],
    ['changes without a day', { changelog: '## 1.2.3 (not released)\n' }, 'begin with "1.2.3 (YEAR-MONTH-DAY)"'],
    ['files that are not committed', { uncommitted: ['a', 'b', 'c', 'd'] }, 'not committed: a, b, c and 1 more.'],
    ['the tag of another commit', { tagged: 'b'.repeat(40) }, 'v1.2.3 is the tag of another commit, bbbb'],
    ['a campaign without a commit', { contributing: TABLE.replace(' (1234567)', '') }, 'soak tells no commit'],
    ['a campaign of another history', { changedSince: () => undefined }, '1234567, which is not in the history.'],
    ['a product that changed since', { changedSince: () => ['src/a.ts'] }, 'have changed since: src/a.ts.'],
    ['something that was not shown', { mustHold: ['It flies.'] }, 'Not shown yet: It flies.'],
    ['a key that is not there', { canSign: () => false }, 'no secret key "own"'],
  ])('for %s', (_, broken, sentence) =>
    expect(refusals({ ...READY, ...broken }, 'own')).toEqual([expect.stringContaining(sentence)]),
  )

  test('for a version that is none', () =>
    expect(refusals({ ...READY, version: '1.2.3-rc' }, 'own').join()).toContain(
      '1.2.3-rc, which is not of the form 1.2.3.',
    ))

  test('without a key, by the command too, which makes nothing', () => {
    expect(refusals(READY, undefined)).toEqual([expect.stringContaining('No key signs it.')])
    const out = join(folder.path, 'out')
    const { status, stderr } = spawnSync(process.execPath, ['bin/release.mjs', '--out', out], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('- No key signs it.') })
    expect(readdirSync(folder.path)).not.toContain('out')
  })
})

test('every campaign of CONTRIBUTING.md is one of the table', () => {
  const campaigns = campaignsIn(readFileSync('CONTRIBUTING.md', 'utf8'))
  expect(campaigns.map(({ name }) => name)).toEqual(expect.arrayContaining(['crash', 'machines', 'packaging/package']))
  expect(campaigns.length).toBeGreaterThan(15)
})

test('what counts as a change is a change of the product in the history', () => {
  const checkout = join(folder.path, 'checkout')
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@localhost']
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', checkout, ...identity, ...args], { encoding: 'utf8' }).trim()
  const commit = (files: Record<string, string>): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(checkout, path)), { recursive: true })
      writeFileSync(join(checkout, path), text)
    }
    git('add', '--all')
    git('commit', '--quiet', '--message', 'x')
    return git('rev-parse', 'HEAD')
  }
  execFileSync('git', ['init', '--quiet', checkout])
  const manifest = JSON.stringify({ version: '1.2.3' })
  const written = ['package.json', 'package-lock.json', 'packaging/compose.yaml', 'CHANGELOG.md', 'CONTRIBUTING.md']
  const first = commit(Object.fromEntries(written.map((path) => [path, manifest])))
  git('tag', 'v1.2.3')
  commit({ 'docs/a.md': 'a', 'test/a.test.ts': 'a', 'packaging/release/a.ts': 'a' })
  expect(factsOf(checkout).changedSince(first)).toEqual([])
  const head = commit({ 'src/a.ts': 'a' })
  writeFileSync(join(checkout, 'left.txt'), 'x')
  const facts = factsOf(checkout)
  expect(facts).toMatchObject({ version: '1.2.3', head, tagged: first, uncommitted: ['left.txt'] })
  expect(facts.changedSince(first)).toEqual(['src/a.ts'])
  expect(facts.changedSince('1234567')).toBeUndefined()
})

test('the bill of materials has everything that is in the packages, and is the same twice', () => {
  const options = { checkout: process.cwd(), version: '1.2.3', epoch: 1_900_000_000 }
  const text = billOfMaterials(options)
  expect(billOfMaterials(options)).toBe(text)
  const bill = JSON.parse(text)
  const component = { name: 'drawbridge', version: '1.2.3' }
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component } })
  const components: { name: string; purl: string; components?: { name: string }[] }[] = bill.components
  expect(components.length).toBeGreaterThan(100)
  const named = bundledFolders().map(
    (each) => `"name": "${JSON.parse(readFileSync(`${each}/package.json`, 'utf8')).name}"`,
  )
  expect(named.filter((name) => !text.includes(name))).toEqual([])
  const purls = components.map(({ purl }) => purl)
  expect(new Set(purls).size).toBe(purls.length)
  expect(purls.find((purl) => purl.startsWith('pkg:npm/%40fastify/static@'))).toBeDefined()
  const inside = (name: string) => components.find((one) => one.name === name)?.components?.map((part) => part.name)
  expect(inside('node')).toEqual(expect.arrayContaining(['openssl', 'v8']))
  expect(inside('better-sqlite3')).toEqual(['sqlite'])
  expect(inside('@fastify/swagger-ui')).toEqual(['swagger-ui-dist'])
})

test('the notes are those of the version', () => {
  expect(notesOf(READY.changelog, '1.2.3')).toBe('# Drawbridge 1.2.3 (2030-01-31)\n### New\n- A line.\n')
  expect(() => notesOf(READY.changelog, '1.2')).toThrow('CHANGELOG.md has no version 1.2.')
})

test('the sums are right and signed by the key of the operator', { timeout: 60_000 }, () => {
  const out = join(folder.path, 'release')
  const home = join(folder.path, 'gnupg')
  mkdirSync(out)
  mkdirSync(home, { mode: 0o700 })
  for (const name of ['b.deb', 'a.json']) writeFileSync(join(out, name), name)
  const former = process.env.GNUPGHOME
  process.env.GNUPGHOME = home
  try {
    const made = ['--passphrase', '', '--quick-generate-key', 'release@localhost', 'ed25519', 'sign', 'never']
    execFileSync('gpg', ['--batch', ...made], { stdio: 'pipe' })
    const { canSign } = factsOf(process.cwd())
    expect([canSign('release@localhost'), canSign('other@localhost')]).toEqual([true, false])
    writeSums(out, 'release@localhost')
    const checked = (program: string, args: readonly string[]) => spawnSync(program, args, { cwd: out }).status
    expect(checked('sha256sum', ['--strict', '-c', 'SHA256SUMS'])).toBe(0)
    expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toMatch(/^\w{64} {2}a\.json\n\w{64} {2}b\.deb\n$/)
    expect(checked('gpg', ['--verify', 'SHA256SUMS.asc', 'SHA256SUMS'])).toBe(0)
    writeFileSync(join(out, 'SHA256SUMS'), 'changed')
    expect(checked('gpg', ['--verify', 'SHA256SUMS.asc', 'SHA256SUMS'])).not.toBe(0)
  } finally {
    spawnSync('gpgconf', ['--kill', 'all'])
    if (former === undefined) delete process.env.GNUPGHOME
    else process.env.GNUPGHOME = former
  }
})
