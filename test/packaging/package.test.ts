import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkout } from '../../lab/checkout.ts'
import { isRoot } from '../../lab/program.ts'
import { packagesInBundle } from '../../packaging/notices.ts'
import { buildPackage } from '../support/package/build.ts'
import { cleanRoot } from '../support/package/clean-root.ts'
import { readUnit } from '../support/package/unit.ts'
import { type Seen, walkOf } from '../support/package/walk.ts'
import { tempFolder } from '../support/temp-folder.ts'

const CHECKOUT = checkout()
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const UNITS = ['drawbridge.service', 'drawbridge-edge.service']
const CAMPAIGN = process.env.CAMPAIGN !== undefined

const folder = tempFolder()
let deb: string
let tarball: string
/** The package, unpacked. */
let unpacked: string
let listing: string[]

beforeAll(async () => {
  ;({ deb, tarball } = await buildPackage(
    join(folder.path, 'first'),
    CAMPAIGN ? {} : { only: 'deb', uncompressed: true },
  ))
  unpacked = join(folder.path, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('dpkg-deb', ['-x', deb, unpacked])
  listing = execFileSync('dpkg-deb', ['-c', deb], { encoding: 'utf8' }).trim().split('\n')
}, 600_000)
afterAll(() => folder[Symbol.dispose]())

const at = (path: string): string => join(unpacked, path)
/** Name and version of an npm package, as notices have them. */
function titleOf(folder: string): string {
  const { name, version: its } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `\n${name} ${its} (`
}

/** Statements of a module that load a package; words in comments and in code that is generated do not begin a line. */
function packagesLoadedBy(module: string): string[] {
  const statements = module.matchAll(
    /^(?:import|export)\b[^'"\n]*?["']([^"'./][^"']*)["'];?$|\bimport\(["']([^"'./][^"']*)["']\)\.then/gm,
  )
  return [...statements].map(([, first, second]) => first ?? second ?? '').filter((name) => !isBuiltin(name))
}

describe('the package file', () => {
  test('is named by version and architecture', () => {
    expect(deb).toMatch(new RegExp(`/drawbridge_${version}_(arm64|amd64)\\.deb$`))
    if (CAMPAIGN) expect(tarball).toMatch(new RegExp(`/drawbridge-${version}-linux-(arm64|x64)\\.tar\\.gz$`))
  })

  test.runIf(CAMPAIGN)(
    'has the same bytes whenever, wherever and by whomever it is built',
    { timeout: 600_000 },
    async () => {
      const otherwise = { umask: 0o077, environment: { TZ: 'Asia/Tokyo', LC_ALL: 'C' } }
      const again = await buildPackage(join(folder.path, 'second'), otherwise)
      expect(readFileSync(deb).equals(readFileSync(again.deb))).toBe(true)
      expect(readFileSync(tarball).equals(readFileSync(again.tarball))).toBe(true)
    },
  )

  test('belongs to root, without set-user-id bits and links that lead elsewhere', () => {
    expect(listing.filter((line) => !/^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root\/root /.test(line))).toEqual([])
  })

  test('has at most 300 entries', () => {
    expect(listing.length).toBeGreaterThan(100)
    expect(listing.length).toBeLessThanOrEqual(300)
  })

  test.runIf(CAMPAIGN)('has at most 30 MB', () => {
    expect(statSync(deb).size).toBeLessThanOrEqual(30e6)
  })

  test('has no file that serves only to build, test or debug it', () => {
    const files = listing
      .map((line) => line.split(/\s+/)[5] ?? '')
      .filter((path) => path.startsWith('./usr/lib/drawbridge/'))
    expect(files.filter((path) => /\.(map|[cm]?ts|md|gyp|yml)$|\/(\.|LICEN|test|src\/)/.test(path))).toEqual([])
    expect(readdirSync(at('usr/lib/drawbridge/node_modules'))).toEqual(['better-sqlite3'])
    expect(readdirSync(at('usr/lib/drawbridge/node_modules/better-sqlite3/prebuilds'))).toHaveLength(1)
    for (const program of ['node/bin/node', `node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`])
      expect(execFileSync('readelf', ['-SW', at(`usr/lib/drawbridge/${program}`)], { encoding: 'utf8' })).not.toMatch(
        /\.(symtab|debug_info)\b/,
      )
  })

  test('loads nothing that it does not bring along', () => {
    const own = readdirSync(at('usr/lib/drawbridge/dist/service')).filter((name) => name.endsWith('.js'))
    const loaded = own.flatMap((name) =>
      packagesLoadedBy(readFileSync(at(`usr/lib/drawbridge/dist/service/${name}`), 'utf8')),
    )
    expect([...new Set(loaded)]).toEqual(['better-sqlite3'])
  })

  test('tells the licence of everything that it contains', () => {
    const copyright = readFileSync(at('usr/share/doc/drawbridge/copyright'), 'utf8')
    const bundled = ['service', 'web'].flatMap(packagesInBundle)
    expect(bundled.length).toBeGreaterThan(80)
    expect(bundled.filter((folder) => !copyright.includes(titleOf(folder)))).toEqual([])
    expect(bundled).toEqual(
      expect.arrayContaining(['fastify', 'pg', 'undici', 'react'].map((name) => `node_modules/${name}`)),
    )
    for (const word of ['Copyright (c) 2026 The Drawbridge authors', 'SQLite', 'Swagger UI', 'V8', 'OpenSSL'])
      expect(copyright).toContain(word)
  })

  test('has a changelog as Debian reads it, and names no person as its maintainer', () => {
    const changelog = execFileSync('gzip', ['-dc', at('usr/share/doc/drawbridge/changelog.gz')], { encoding: 'utf8' })
    const maintainer = execFileSync('dpkg-deb', ['-f', deb, 'Maintainer'], { encoding: 'utf8' }).trim()
    expect(maintainer).toBe('The Drawbridge authors <drawbridge@localhost.invalid>')
    expect(changelog).toMatch(
      new RegExp(`^drawbridge \\(${version}\\) unstable; urgency=medium\\n\\n  \\* .+\\n\\n -- `),
    )
    expect(changelog).toMatch(/> {2}(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000\n$/)
    expect(changelog).toContain(` -- ${maintainer}  `)
  })

  test.runIf(CAMPAIGN)('has no error for lintian', { timeout: 600_000 }, () => {
    const { stdout, stderr } = spawnSync('lintian', ['--allow-root', '--fail-on', 'none', deb], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout.split('\n').filter((line) => line.startsWith('E:'))).toEqual([])
  })

  test('names no path of the machine on which it was built', () => {
    const own = readdirSync(at('usr/lib/drawbridge/dist'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    expect(own.length).toBeGreaterThan(20)
    expect(own.filter((file) => readFileSync(file, 'latin1').includes(CHECKOUT))).toEqual([])
  })

  test.each([
    ['usr/share/bash-completion/completions/drawbridge', 'withdraw'],
    ['usr/share/zsh/vendor-completions/_drawbridge', 'withdraw'],
    ['usr/share/fish/vendor_completions.d/drawbridge.fish', 'withdraw'],
    ['usr/share/doc/drawbridge/docs/install.md', '/etc/drawbridge'],
    ['usr/share/doc/drawbridge/examples/drawbridge.example.yaml', 'zones:'],
    ['usr/share/doc/drawbridge/examples/edge.example.yaml', 'nginx:'],
  ])('has %s', (path, word) => {
    expect(readFileSync(at(path), 'utf8')).toContain(word)
  })

  test('has a manual page', () => {
    const page = execFileSync('gzip', ['-dc', at('usr/share/man/man1/drawbridge.1.gz')], { encoding: 'utf8' })
    expect(page).toContain('.TH DRAWBRIDGE 1')
  })

  test('puts nothing into /etc and /var: what an administrator configures is never overwritten', () => {
    expect(readdirSync(unpacked)).toEqual(['usr'])
  })

  test('runs on its own Node, also through a link and from another folder', () => {
    const link = join(folder.path, 'drawbridge')
    execFileSync('ln', ['-sf', at('usr/bin/drawbridge'), link])
    const shown = execFileSync(link, ['--version'], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } })
    expect(shown.trim()).toBe(version)
  })

  test.runIf(CAMPAIGN)('the tarball has the same tree below one folder', () => {
    const paths = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    const top = `drawbridge-${version}-linux-${process.arch}/`
    expect(paths.filter((path) => !path.startsWith(top))).toEqual([])
    for (const path of ['bin/drawbridge', 'lib/drawbridge/node/bin/node', 'lib/systemd/system/drawbridge.service'])
      expect(paths).toContain(`${top}${path}`)
  })
})

describe('the maintainer scripts', () => {
  test.each(['postinst', 'prerm', 'postrm'])('%s is a valid script that stops at the first error', (name) => {
    const script = execFileSync('dpkg-deb', ['--ctrl-tarfile', deb], { maxBuffer: 16 * 1024 * 1024 })
    const text = execFileSync('tar', ['-xO', `./${name}`], { input: script, encoding: 'utf8' })
    execFileSync('sh', ['-n'], { input: text })
    expect(text).toMatch(/^#!\/bin\/sh\n/)
    expect(text).toContain('\nset -e\n')
  })
})

describe('the units', () => {
  const unitFile = (name: string) => at(`usr/lib/systemd/system/${name}`)

  test.each(UNITS)('systemd finds no fault in %s', (name) => {
    // Against the units of this machine, where the package is not installed.
    const copy = join(folder.path, name)
    writeFileSync(
      copy,
      readFileSync(unitFile(name), 'utf8').replaceAll('/usr/bin/drawbridge', at('usr/bin/drawbridge')),
    )
    expect(outputOf('systemd-analyze', ['--man=no', 'verify', copy])).toBe('')
  })

  test.each(UNITS)('the exposure of %s is below 3.0', (name) => {
    const report = execFileSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unitFile(name)], {
      encoding: 'utf8',
    })
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? []
    expect(Number(level)).toBeGreaterThan(0)
    expect(Number(level)).toBeLessThan(3)
  })

  test('the service has no capability and is not root', () => {
    const unit = readUnit(unitFile('drawbridge.service'))
    expect(unit.value('Service.User')).toBe('drawbridge')
    expect(unit.words('Service.CapabilityBoundingSet')).toEqual([])
  })

  test.each(UNITS)('%s starts nothing before its configuration is there', (name) => {
    const unit = readUnit(unitFile(name))
    const config = unit.words('Service.ExecStart').at(-1)
    expect(unit.words('Unit.ConditionPathExists')).toEqual([config])
  })

  test('docs/edge-agent.md tells the rights of the agent as its unit has them', () => {
    const page = readFileSync('docs/edge-agent.md', 'utf8')
    const unit = readUnit(unitFile('drawbridge-edge.service'))
    for (const right of unit.words('Service.CapabilityBoundingSet')) expect(page).toContain(`\`${right}\``)
    for (const path of unit.words('Service.ReadWritePaths')) expect(page).toContain(`\`${path.replace(/^-/, '')}\``)
  })
})

function outputOf(program: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return stdout + stderr
}

const ROOTS: readonly (readonly [string, () => Promise<string>])[] = (['bookworm', 'trixie'] as const).map(
  (suite) => [`a clean ${suite}`, () => cleanRoot(suite)] as const,
)

const suite = isRoot() && CAMPAIGN ? describe : describe.skip

suite.each(ROOTS)(
  `an installation in %s${isRoot() ? '' : ' (skipped: only root may make namespaces)'}`,
  (_, rootOf) => {
    let seen: Seen

    beforeAll(async () => {
      const newer = (await buildPackage(join(folder.path, 'newer'), { revision: '2', only: 'deb' })).deb
      seen = await walkOf({ lower: await rootOf(), deb, newer })
    }, 600_000)

    test('starts nothing before it is configured, and makes user and folders', () => {
      expect(seen.install).toMatchObject({
        code: 0,
        output: expect.stringContaining('not configured yet'),
        started: [],
        enabled: UNITS,
        folders: {
          'etc/drawbridge': 'root:drawbridge 750',
          'etc/drawbridge/secrets': 'drawbridge:drawbridge 700',
          'var/lib/drawbridge': 'drawbridge:drawbridge 700',
          'var/lib/drawbridge-edge': 'root:root 700',
        },
      })
    })

    test('drawbridge init configures it beside the sites of the nginx that is there', () => {
      expect(seen.init).toMatchObject({ code: 0, output: expect.stringContaining('nginx served a test entry') })
    })

    test('its processes have the user and the capabilities of their units, and no others', () => {
      const agent = capabilitiesOf(at('usr/lib/systemd/system/drawbridge-edge.service'))
      expect(seen.privileges).toEqual({
        service: { uid: 'other', bounding: '0000000000000000', effective: '0000000000000000' },
        agent: { uid: 'root', bounding: agent, effective: agent },
      })
    })

    test('they can write only where their units let them', () => {
      expect(seen.walls).toEqual({
        'drawbridge.service': ['/var/lib/drawbridge'],
        'drawbridge-edge.service': ['/etc/nginx', '/var/lib/drawbridge-edge'],
      })
    })

    test('the service reads its configuration again when systemd asks for it', () => {
      expect(seen.reload).toBe(true)
    })

    test('a first host is served over HTTPS, and apply and remove work with these rights', () => {
      expect(seen.expose).toMatchObject({ code: 0, answer: 200, points: ['127.0.45.23'] })
      expect(seen.applyAndRemove).toEqual([0, 0])
    })

    test('is still there after a restart of everything with an empty /run', () => {
      expect(seen.restart).toEqual({ answer: 200, enabled: true })
    })

    test('an upgrade restarts the service, and no visitor notices it', () => {
      expect(seen.upgrade).toMatchObject({
        code: 0,
        version: `${version}-2`,
        isNewProcess: true,
        visits: { failed: [] },
      })
      expect(seen.upgrade?.visits.answered).toBeGreaterThan(50)
    })

    test('a removal tells the names that stay, and goes on serving them', () => {
      expect(seen.remove).toMatchObject({
        code: 0,
        output: expect.stringContaining('hello.lab.test'),
        visits: { failed: [] },
        program: false,
        state: true,
        active: [],
        points: ['127.0.45.23'],
      })
    })

    test('a purge that cannot reach the DNS server deletes nothing and says what to do', () => {
      expect(seen.purgeWithoutDns).toMatchObject({
        code: 1,
        output: expect.stringContaining('purge again'),
        answer: 200,
        state: true,
      })
    })

    test('a purge lists the names and withdraws them; nginx is valid and as it was before', () => {
      expect(seen.purge).toMatchObject({ code: 0, output: expect.stringContaining('hello.lab.test') })
      expect(seen.purge).toMatchObject({ points: [], isNginxValid: true, nginx: [], accounts: [], left: [] })
    })
  },
)

const CAPABILITIES = { CAP_CHOWN: 0, CAP_DAC_OVERRIDE: 1, CAP_KILL: 5, CAP_NET_BIND_SERVICE: 10 } as const

/** The set of a unit as /proc shows it. */
function capabilitiesOf(unitFile: string): string {
  const names = readUnit(unitFile).words('Service.CapabilityBoundingSet') as (keyof typeof CAPABILITIES)[]
  return names
    .reduce((set, name) => set | (1n << BigInt(CAPABILITIES[name])), 0n)
    .toString(16)
    .padStart(16, '0')
}
