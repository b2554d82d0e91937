import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Failure, put, putTree, readJson, run, write } from './files.ts'
import { copyrightText } from './notices.ts'

const ROOT = resolve(import.meta.dirname, '..')
const MODULES = join(ROOT, 'node_modules')
const SOURCES = join(ROOT, 'packaging')

/** Puts what is below /usr, and below the folder of the tarball, into a folder. */
export function stageProgram(usr: string): void {
  const program = join(usr, 'lib/drawbridge')
  if (!existsSync(join(ROOT, 'dist/service/command-line.js')))
    throw new Failure('Drawbridge is not built. Run `npm run package`, which builds it first.')
  stageLauncher(program)
  put(join(SOURCES, 'drawbridge.sh'), join(usr, 'bin/drawbridge'), 0o755)
  stageManifest(program)
  for (const part of ['dist/service', 'dist/web'])
    putTree(join(ROOT, part), join(program, part), (file) => !file.endsWith('.map'))
  stageNode(program)
  stageSqlite(program)
  for (const unit of ['drawbridge.service', 'drawbridge-edge.service'])
    put(join(SOURCES, unit), join(usr, 'lib/systemd/system', unit))
  stageDocuments(join(usr, 'share'))
  stageCompletions(join(usr, 'share'))
}

/** Without its first line, by which a checkout finds a Node. */
function stageLauncher(program: string): void {
  const launcher = readFileSync(join(ROOT, 'bin/drawbridge'), 'utf8')
  write(join(program, 'bin/drawbridge'), launcher.replace(/^#!.*\n/, ''))
}

/** Node reads from it that our files are modules. */
function stageManifest(program: string): void {
  const { name, version, license, type } = readJson(join(ROOT, 'package.json'))
  write(join(program, 'package.json'), `${JSON.stringify({ name, version, license, type, private: true }, null, 2)}\n`)
}

/** A sixth of Node's program are names for debuggers. */
function stageNode(program: string): void {
  const node = join(program, 'node/bin/node')
  put(join(MODULES, 'node/bin/node'), node, 0o755)
  strip(node)
}

/** The one package that is not in the bundle, without its sources and its code for other systems. */
function stageSqlite(program: string): void {
  const folder = join(program, 'node_modules/better-sqlite3')
  const compiled = `prebuilds/linux-${process.arch}.node`
  const isUsed = (file: string) => file === 'package.json' || file === compiled || isSqliteCode(file)
  putTree(join(MODULES, 'better-sqlite3'), folder, isUsed)
  strip(join(folder, compiled))
}

const isSqliteCode = (file: string) => file.startsWith('lib/') && !/^lib\/(darwin|linux|linuxmusl|win32)-/.test(file)

function strip(file: string): void {
  run('strip', ['--strip-unneeded', '--remove-section=.comment', '--remove-section=.note', file])
}

function stageDocuments(share: string): void {
  const folder = join(share, 'doc/drawbridge')
  for (const page of ['README.md', 'CHANGELOG.md', 'SECURITY.md']) put(join(ROOT, page), join(folder, page))
  // Pictures of the web page: few read these pages on a screen that can show them.
  putTree(join(ROOT, 'docs'), join(folder, 'docs'), (file) => !file.startsWith('pictures/'))
  write(join(folder, 'copyright'), copyrightText())
  for (const name of ['drawbridge', 'edge'])
    for (const file of [`${name}.example.yaml`, `${name}.schema.json`])
      put(join(ROOT, file), join(folder, 'examples', file))
  write(join(share, 'man/man1/drawbridge.1.gz'), compressed(readFileSync(join(SOURCES, 'drawbridge.1'))))
}

/** Without name and time of the file, as Debian asks for. */
export const compressed = (content: string | Uint8Array): Uint8Array => gzipSync(content, { level: 9 })

function stageCompletions(share: string): void {
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
