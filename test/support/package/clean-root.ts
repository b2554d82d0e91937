import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkout } from '../../../lab/checkout.ts'

const run = promisify(execFile)
const SOURCES = '/etc/apt/sources.list.d'
/** The nginx of the release, and what a minimal root lacks of what a Debian system has. */
const INCLUDED = ['nginx', 'passwd']

export type Suite = 'bookworm' | 'trixie'

/**
 * The folder of a clean root of a Debian release, made with the package sources of this machine. It is kept in the checkout, so only the
 * first call needs the network. Nobody may change it: put an overlay over it. `kind` names a root with other packages besides.
 */
export async function cleanRoot(suite: Suite, kind?: string, packages: readonly string[] = []): Promise<string> {
  const folder = join(checkout(), '.roots')
  const root = join(folder, kind === undefined ? suite : `${suite}-${kind}`)
  if (existsSync(root)) return root
  mkdirSync(folder, { recursive: true })
  const [sources, draft] = [`${root}.sources`, `${root}.new`]
  writeFileSync(sources, sourcesFor(suite))
  rmSync(draft, { recursive: true, force: true })
  const options = ['--variant=minbase', `--include=${[...INCLUDED, ...packages].join(',')}`, '--quiet']
  await run('mmdebstrap', [...options, suite, draft, sources], { maxBuffer: 64 * 1024 * 1024 })
  renameSync(draft, root)
  return root
}

/** The package sources of this machine, for another release. */
function sourcesFor(suite: string): string {
  const files = existsSync(SOURCES) ? readdirSync(SOURCES).filter((name) => name.endsWith('.sources')) : []
  const text = files.map((name) => readFileSync(join(SOURCES, name), 'utf8')).join('\n')
  const [, own] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
  if (text === '' || own === undefined)
    throw new Error(`${SOURCES} has no package sources of Debian to make a root with.`)
  return text.replaceAll(own, suite)
}
