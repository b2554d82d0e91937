import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkout } from '../../../lab/checkout.ts'

interface BuildOptions {
  readonly revision?: string
  /** Default: both. */
  readonly only?: 'deb' | 'tarball'
  /** A file for a test that is not kept: it is built in a third of the time. */
  readonly uncompressed?: boolean
  readonly umask?: number
  readonly environment?: Readonly<Record<string, string>>
}

/** Builds package and tarball of this checkout into a folder. */
export async function buildPackage(out: string, options: BuildOptions = {}): Promise<{ deb: string; tarball: string }> {
  const { revision, only, uncompressed = false, umask = 0o022, environment = {} } = options
  const given = Object.entries({ out, revision, only }).filter(([, value]) => value !== undefined)
  const args = [
    ...given.flatMap(([name, value]) => [`--${name}`, value ?? '']),
    ...(uncompressed ? ['--uncompressed'] : []),
  ]
  const command = `umask ${umask.toString(8).padStart(4, '0')}; exec "$0" "$@"`
  const program = join(checkout(), 'bin/package.mjs')
  await promisify(execFile)('sh', ['-c', command, process.execPath, program, ...args], {
    env: { ...process.env, ...environment },
  })
  const built = (ending: string) => join(out, readdirSync(out).find((name) => name.endsWith(ending)) ?? '')
  return { deb: built('.deb'), tarball: built('.tar.gz') }
}
