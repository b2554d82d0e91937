// Builds a container image from the Debian package, without a daemon: the tarball of its files, and an OCI layout of it. The same
// package and package sources give the same bytes.
import { existsSync, mkdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure, readJson } from '../packaging/files.ts'
import { writeOciLayout } from '../packaging/oci.ts'
import { buildRootfs } from '../packaging/rootfs.ts'
import { sourceDate } from '../packaging/source-date.ts'

const ROOT = resolve(import.meta.dirname, '..')
const { version } = readJson(join(ROOT, 'package.json'))
const ARCHITECTURES = { arm64: 'arm64', x64: 'amd64' }

async function main() {
  const { values } = parseArgs({ options: { deb: { type: 'string' }, out: { type: 'string' } } })
  if (process.getuid?.() !== 0) throw new Failure('The files of an image belong to root and others: run this as root.')
  const architecture = ARCHITECTURES[process.arch]
  const out = resolve(values.out ?? join(ROOT, 'packages'))
  const deb = resolve(values.deb ?? join(out, `drawbridge_${version}_${architecture}.deb`))
  if (!existsSync(deb))
    throw new Failure(`${deb} does not exist. Run \`npm run package\` first, or name one with --deb.`)
  mkdirSync(out, { recursive: true })
  const epoch = sourceDate(ROOT)
  const name = join(out, `drawbridge-${version}-${architecture}`)
  buildRootfs(deb, `${name}.rootfs.tar`, epoch)
  await writeOciLayout(`${name}.rootfs.tar`, `${name}.oci`, { version, architecture, epoch })
  process.stdout.write(`${name}.rootfs.tar\n${name}.oci\n`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof Failure)) throw error
  process.stderr.write(`${basename(import.meta.filename)}: ${error.message}\n`)
  process.exitCode = 1
}
