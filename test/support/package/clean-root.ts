import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkout } from '../../../lab/checkout.ts'
import { machineSources } from '../../../packaging/rootfs.ts'

const run = promisify(execFile)
/** The nginx of the release, and what a minimal root lacks of what a Debian system has. */
const INCLUDED = ['nginx', 'passwd']

export type Suite = 'bookworm' | 'trixie'

/**
 * The folder of a clean root of a Debian release, made with the package sources of this machine. It is kept in the checkout, so only the
 * first call needs the network. Nobody may change it: put an overlay over it. `kind` names a root with other packages besides.
 * `kept`: packages whose files lie in /srv/packages, for a machine that has no network.
 */
export async function cleanRoot(
  suite: Suite,
  kind?: string,
  packages: readonly string[] = [],
  kept: readonly string[] = [],
): Promise<string> {
  const folder = join(checkout(), '.roots')
  const root = join(folder, kind === undefined ? suite : `${suite}-${kind}`)
  if (existsSync(root)) return root
  mkdirSync(folder, { recursive: true })
  // Several test files may want the same root at once: each makes its own, and the first one stays.
  const [sources, draft] = [`${root}.${process.pid}.sources`, `${root}.${process.pid}.new`]
  writeFileSync(sources, machineSources(suite))
  const keep = `mkdir -p "$1/srv/packages" && chroot "$1" sh -c 'cd /srv/packages && apt-get download ${kept.join(' ')}'`
  const options = [
    ...['--variant=minbase', `--include=${[...INCLUDED, ...packages].join(',')}`, '--quiet'],
    ...(kept.length === 0 ? [] : [`--customize-hook=${keep}`]),
  ]
  try {
    await run('mmdebstrap', [...options, suite, draft, sources], { maxBuffer: 64 * 1024 * 1024 })
    if (!existsSync(root)) renameSync(draft, root)
  } finally {
    rmSync(draft, { recursive: true, force: true })
    rmSync(sources)
  }
  return root
}
