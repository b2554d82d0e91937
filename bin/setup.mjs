// Prepares a fresh clone for `npm start`, `npm test`, `npm run bench`, `npm run package`, `image` or `release`, and skips what is already done.
// It runs before anything is installed, on Node 20 or newer, so it is plain JavaScript without dependencies.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const MODULES = join(ROOT, 'node_modules')
const BUILD = join(ROOT, 'dist')
const BUILD_MARK = join(BUILD, '.built-from.json')
const SHOWN_ON_FAILURE = 15

/** Debian package -> a program or another file that exists only when the package is installed. */
const LAB_PACKAGES = {
  nginx: 'nginx',
  bind9: 'named',
  'bind9-dnsutils': 'nsupdate',
  pebble: 'pebble',
  openssl: 'openssl',
  curl: 'curl',
}
const TEST_PACKAGES = {
  knot: 'knotd',
  'pdns-server': 'pdns_server',
  'pdns-backend-sqlite3': 'schema.sqlite3.sql',
  chromium: 'chromium',
  systemd: 'systemd-analyze',
  prometheus: 'promtool',
  git: 'git',
  gnupg: 'gpg',
}
const NETWORK_PACKAGES = { iproute2: 'ip', 'util-linux': 'nsenter', procps: 'sysctl', postgresql: 'initdb' }
const PACKAGE_PACKAGES = { dpkg: 'dpkg-deb', tar: 'tar', gzip: 'gzip', binutils: 'strip' }
const EVERY_TEST = { ...LAB_PACKAGES, ...NETWORK_PACKAGES, ...PACKAGE_PACKAGES, ...TEST_PACKAGES }
const PACKAGES = {
  start: LAB_PACKAGES,
  network: { ...LAB_PACKAGES, ...NETWORK_PACKAGES },
  test: EVERY_TEST,
  campaign: {
    ...EVERY_TEST,
    lintian: 'lintian',
    mmdebstrap: 'mmdebstrap',
    umoci: 'umoci',
    crun: 'crun',
    'systemd-container': 'systemd-nspawn',
  },
  bench: LAB_PACKAGES,
  package: PACKAGE_PACKAGES,
  image: { mmdebstrap: 'mmdebstrap' },
  release: { ...PACKAGE_PACKAGES, git: 'git', gnupg: 'gpg', mmdebstrap: 'mmdebstrap' },
}
/** What a goal can do without: the benchmarks that need these say what is missing. */
const OPTIONAL_PACKAGES = { bench: { caddy: 'caddy', wrk: 'wrk', chromium: 'chromium' } }

class Failure extends Error {}

async function main(goal) {
  if (!Object.hasOwn(PACKAGES, goal))
    throw new Failure('Usage: node bin/setup.mjs start|network|test|campaign|bench|package|image|release')
  if (goal === 'network' && process.getuid?.() !== 0)
    throw new Failure('The network is made of namespaces, which only root may create. Run `npm run network` as root.')
  endWithParent()
  await installPackages(missingPackages(PACKAGES[goal]))
  await tryToInstall(missingPackages(OPTIONAL_PACKAGES[goal] ?? {}))
  if (!areModulesCurrent()) await installModules()
  await build()
}

// --- system packages

function missingPackages(packages) {
  const postgres = '/usr/lib/postgresql'
  const versions = existsSync(postgres) ? readdirSync(postgres).map((version) => join(postgres, version, 'bin')) : []
  const otherFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/share/pdns-backend-sqlite3/schema', ...versions]
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...otherFolders]
  const isInstalled = (program) => folders.some((folder) => existsSync(join(folder, program)))
  return Object.keys(packages).filter((name) => !isInstalled(packages[name]))
}

async function installPackages(names) {
  if (names.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    const command = `apt-get install --no-install-recommends ${names.join(' ')}`
    throw new Failure(
      `These system packages are missing: ${names.join(', ')}. Install them as root with \`${command}\`.`,
    )
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const waitForLock = ['-o', 'DPkg::Lock::Timeout=120']
  await step('Refreshing the package lists', 'apt-get', ['-q', ...waitForLock, 'update'], environment)
  const install = ['-q', '-y', ...waitForLock, 'install', '--no-install-recommends', ...names]
  await step(`Installing system packages: ${names.join(', ')}`, 'apt-get', install, environment)
}

async function tryToInstall(names) {
  try {
    await installPackages(names)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    process.stderr.write(`${error.message} Going on without.\n`)
  }
}

// --- npm packages

/** npm writes node_modules/.package-lock.json last, so every package that it lists is completely installed. */
function areModulesCurrent() {
  const wanted = readJson(join(ROOT, 'package-lock.json'))?.packages
  const present = readJson(join(MODULES, '.package-lock.json'))?.packages
  if (!wanted) throw new Failure('package-lock.json cannot be read. Restore it from git.')
  if (!present || !existsSync(join(MODULES, 'node/bin/node'))) return false
  const isInstalled = ([path, entry]) => (path in present ? isSame(present[path], entry) : entry.optional === true)
  return (
    Object.entries(wanted).every(([path, entry]) => path === '' || isInstalled([path, entry])) &&
    Object.keys(present).every((path) => path in wanted) &&
    isLockOf(wanted[''], readJson(join(ROOT, 'package.json')))
  )
}

const isSame = (left, right) => left.version === right.version && left.integrity === right.integrity

const isLockOf = (root, manifest) =>
  ['dependencies', 'devDependencies'].every(
    (kind) => JSON.stringify(root[kind] ?? {}) === JSON.stringify(manifest[kind] ?? {}),
  )

/** npm must not run on the Node in node_modules, because it deletes that folder. */
async function installModules() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(`${ROOT}/node_modules`))
  const environment = { ...process.env, PATH: path.join(delimiter) }
  await step('Installing npm packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], environment)
}

// --- build

async function build() {
  const sources = ['src', 'lab', 'network', 'bench', 'web'].flatMap(filesUnder)
  const inputs = [
    ...sources,
    'bin/bundle-service.mjs',
    'bin/bundled-packages.ts',
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
    'package-lock.json',
  ]
  const hash = createHash('sha256')
  for (const file of inputs)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  const digest = hash.digest('hex')
  const before = readJson(BUILD_MARK)
  if (before?.digest === digest) return
  rmSync(BUILD_MARK, { force: true })
  const isAnyGone = before?.sources.some((file) => !sources.includes(file)) ?? true
  if (isAnyGone) rmSync(BUILD, { recursive: true, force: true })
  await step('Building', 'npm', ['run', 'build', '--silent'], process.env)
  mkdirSync(BUILD, { recursive: true })
  writeFileSync(BUILD_MARK, JSON.stringify({ digest, sources }))
}

function filesUnder(folder) {
  if (!existsSync(join(ROOT, folder))) return []
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
  return entries
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort()
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

// --- one step: one line with its duration

async function step(label, program, args, environment) {
  const startedAt = performance.now()
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  const isTerminal = process.stdout.isTTY === true
  process.stdout.write(`${label} ... `)
  const draw = () => process.stdout.write(`\r${label} ... ${seconds()}`)
  const ticker = isTerminal ? setInterval(draw, 200) : undefined
  const { code, output } = await run(program, args, environment)
  clearInterval(ticker)
  process.stdout.write(`${isTerminal ? `\r${label} ... ` : ''}${code === 0 ? seconds() : 'failed'}\n`)
  if (code === 0) return
  process.stderr.write(`${output.trimEnd().split('\n').slice(-SHOWN_ON_FAILURE).join('\n')}\n`)
  throw new Failure(`Setup stopped: \`${program} ${args.join(' ')}\` failed (${code}). Its last output is above.`)
}

let running

function run(program, args, environment) {
  return new Promise((settle) => {
    let output = ''
    const stdio = ['ignore', 'pipe', 'pipe']
    const child = spawn(program, args, { cwd: ROOT, env: environment, stdio, detached: true })
    running = { child, program }
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.once('error', (error) => settle({ code: error.code, output }))
    child.once('close', (code, signal) => settle({ code: code ?? signal, output }))
  })
}

/**
 * A signal to `npm start` ends the shell between npm and this process, but not this process: it must watch its parent. npm is
 * killed, because its own cleanup would disturb the next setup, which starts from nothing anyway. apt-get is interrupted,
 * because it must not leave a half-installed package; the next setup waits for its lock.
 */
function endWithParent() {
  const parent = process.ppid
  const end = () => {
    if (running) stopGroup(running.child, running.program === 'apt-get' ? 'SIGINT' : 'SIGKILL')
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, end)
  setInterval(() => process.ppid !== parent && end(), 100).unref()
}

function stopGroup(leader, signal) {
  try {
    process.kill(-leader.pid, signal)
  } catch {
    // The process has already ended.
  }
}

main(process.argv[2]).catch((error) => {
  process.stderr.write(`${error instanceof Failure ? error.message : `Setup stopped: ${error.message}`}\n`)
  process.exit(1)
})
