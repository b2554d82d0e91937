// Brings a fresh clone to the point where `npm start` or `npm test` can run, and does nothing that is done already.
// It runs before anything is installed, on any Node from 20 up: plain JavaScript, no dependency.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const HOUSE = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const MODULES = join(HOUSE, 'node_modules')
const BUILD = join(HOUSE, 'dist')
const BUILD_MARK = join(BUILD, '.built-from.json')
const SHOWN_ON_FAILURE = 15

/** Debian package -> a program, or another file of it, that proves it is there. */
const LAB_PACKAGES = {
  nginx: 'nginx',
  bind9: 'named',
  'bind9-dnsutils': 'nsupdate',
  pebble: 'pebble',
  openssl: 'openssl',
  curl: 'curl',
}
const TEST_PACKAGES = {
  postgresql: 'initdb',
  knot: 'knotd',
  'pdns-server': 'pdns_server',
  'pdns-backend-sqlite3': 'schema.sqlite3.sql',
  chromium: 'chromium',
}
const PACKAGES = { start: LAB_PACKAGES, test: { ...LAB_PACKAGES, ...TEST_PACKAGES } }

class Failure extends Error {}

async function main(goal) {
  if (!Object.hasOwn(PACKAGES, goal)) throw new Failure('Usage: node bin/setup.mjs start|test')
  endWithParent()
  await installPackages(missingPackages(PACKAGES[goal]))
  if (!areModulesCurrent()) await installModules()
  await build()
}

// --- system packages

function missingPackages(packages) {
  const postgres = '/usr/lib/postgresql'
  const versions = existsSync(postgres) ? readdirSync(postgres).map((version) => join(postgres, version, 'bin')) : []
  const elsewhere = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/share/pdns-backend-sqlite3/schema', ...versions]
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...elsewhere]
  const isThere = (program) => folders.some((folder) => existsSync(join(folder, program)))
  return Object.keys(packages).filter((name) => !isThere(packages[name]))
}

async function installPackages(names) {
  if (names.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    const command = `apt-get install --no-install-recommends ${names.join(' ')}`
    throw new Failure(`These system packages are missing: ${names.join(', ')}; install them as root (\`${command}\`).`)
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const patience = ['-o', 'DPkg::Lock::Timeout=120']
  await step('Refreshing the package lists', 'apt-get', ['-q', ...patience, 'update'], environment)
  const install = ['-q', '-y', ...patience, 'install', '--no-install-recommends', ...names]
  await step(`Installing system packages: ${names.join(', ')}`, 'apt-get', install, environment)
}

// --- npm packages

/** npm writes node_modules/.package-lock.json as its last act: what it lists was installed to the end. */
function areModulesCurrent() {
  const wanted = readJson(join(HOUSE, 'package-lock.json'))?.packages
  const present = readJson(join(MODULES, '.package-lock.json'))?.packages
  if (!wanted) throw new Failure('package-lock.json cannot be read: restore it from git.')
  if (!present || !existsSync(join(MODULES, 'node/bin/node'))) return false
  const isInstalled = ([path, entry]) => (path in present ? isSame(present[path], entry) : entry.optional === true)
  return (
    Object.entries(wanted).every(([path, entry]) => path === '' || isInstalled([path, entry])) &&
    Object.keys(present).every((path) => path in wanted) &&
    isLockOf(wanted[''], readJson(join(HOUSE, 'package.json')))
  )
}

const isSame = (left, right) => left.version === right.version && left.integrity === right.integrity

const isLockOf = (root, manifest) =>
  ['dependencies', 'devDependencies'].every(
    (kind) => JSON.stringify(root[kind] ?? {}) === JSON.stringify(manifest[kind] ?? {}),
  )

/** npm itself must not run on the Node that it is about to delete. */
async function installModules() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(`${HOUSE}/node_modules`))
  const environment = { ...process.env, PATH: path.join(delimiter) }
  await step('Installing npm packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], environment)
}

// --- build

async function build() {
  const sources = ['src', 'lab', 'bench', 'web'].flatMap(filesUnder)
  const inputs = [
    ...sources,
    'bin/bundle-service.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
    'package-lock.json',
  ]
  const hash = createHash('sha256')
  for (const file of inputs)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(HOUSE, file)))
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
  if (!existsSync(join(HOUSE, folder))) return []
  const entries = readdirSync(join(HOUSE, folder), { withFileTypes: true })
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

// --- one step: one line, with the time it took

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
  throw new Failure(`Set-up stopped: \`${program} ${args.join(' ')}\` failed (${code}); its last lines stand above.`)
}

let running

function run(program, args, environment) {
  return new Promise((settle) => {
    let output = ''
    const stdio = ['ignore', 'pipe', 'pipe']
    const child = spawn(program, args, { cwd: HOUSE, env: environment, stdio, detached: true })
    running = { child, program }
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.once('error', (error) => settle({ code: error.code, output }))
    child.once('close', (code, signal) => settle({ code: code ?? signal, output }))
  })
}

/**
 * A signal to `npm start` ends the shell between npm and us, and would leave us at work for nobody. npm is cut off: its
 * own tidying would run into the next set-up, which begins from nothing anyway. apt-get is asked, and its lock waited for.
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
    // It has ended by itself.
  }
}

main(process.argv[2]).catch((error) => {
  process.stderr.write(`${error instanceof Failure ? error.message : `Set-up stopped: ${error.message}`}\n`)
  process.exit(1)
})
