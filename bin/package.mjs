// Builds the Debian package and the tarball of this machine's architecture from the built checkout. Nothing is fetched, and the
// same commit gives the same bytes: every file gets the time of the commit, root as its owner, and one of two modes.
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { debianChangelog } from '../packaging/changelog.ts'
import { Failure, filesUnder, normalize, put, readJson, run, write } from '../packaging/files.ts'
import { compressed, stageProgram } from '../packaging/program.ts'
import { sourceDate } from '../packaging/source-date.ts'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'packaging')
const { version, description } = readJson(join(ROOT, 'package.json'))

const DEBIAN_ARCHITECTURES = { arm64: 'arm64', x64: 'amd64' }

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
  const build = { version: full, architecture, epoch: sourceDate(ROOT), out, uncompressed }
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

function report(file) {
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex')
  process.stdout.write(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB  sha256 ${sum}\n`)
}

// --- the two kinds of packages

function buildDeb(usr, folder, { version: full, architecture, epoch, out, uncompressed }) {
  mkdirSync(folder, { recursive: true })
  renameSync(usr, join(folder, 'usr'))
  const maintainer = maintainerField()
  stageDebianFiles(join(folder, 'usr/share'), full, maintainer, epoch)
  const bytes = filesUnder(folder).reduce((sum, file) => sum + statSync(file).size, 0)
  const control = readFileSync(join(SOURCES, 'debian/control'), 'utf8')
    .replace('@VERSION@', full)
    .replace('@MAINTAINER@', maintainer)
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
  const compression = uncompressed ? ['-Znone'] : ['-Zxz', '-z9', '--threads-max=1']
  const args = ['--root-owner-group', ...compression, '--build', folder, file]
  run('dpkg-deb', args, { SOURCE_DATE_EPOCH: String(epoch) })
  renameSync(join(folder, 'usr'), usr)
  return file
}

/** As Debian's own programs take it. Without them the field names the project; `invalid` is no address of anybody. */
function maintainerField() {
  const { DEBFULLNAME, DEBEMAIL } = process.env
  return `${DEBFULLNAME ?? 'The Drawbridge authors'} <${DEBEMAIL ?? 'drawbridge@localhost.invalid'}>`
}

/** A version with a revision has its changelog under another name. */
function stageDebianFiles(share, full, maintainer, epoch) {
  const changelog = full.includes('-') ? 'changelog.Debian.gz' : 'changelog.gz'
  write(join(share, 'doc/drawbridge', changelog), compressed(debianChangelog(full, maintainer, epoch)))
  put(join(SOURCES, 'debian/lintian-overrides'), join(share, 'lintian/overrides/drawbridge'))
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

const md5 = (file) => createHash('md5').update(readFileSync(file)).digest('hex')

try {
  main()
} catch (error) {
  if (!(error instanceof Failure)) throw error
  process.stderr.write(`${basename(import.meta.filename)}: ${error.message}\n`)
  process.exitCode = 1
}
