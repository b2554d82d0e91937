import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { checkout } from '../../../lab/checkout.ts'
import { tempFolder } from '../temp-folder.ts'

interface Visits {
  readonly answered: number
  readonly failed: readonly (number | string)[]
}

/** What package-walk.ts saw, step by step. */
export interface Seen {
  readonly install: unknown
  readonly init: unknown
  readonly privileges: unknown
  readonly walls: unknown
  readonly reload: unknown
  readonly expose: unknown
  readonly applyAndRemove: unknown
  readonly restart: unknown
  readonly upgrade?: { readonly visits: Visits }
  readonly remove: unknown
  readonly purgeWithoutDns: unknown
  readonly purge: unknown
}

interface WalkOptions {
  readonly lower: string
  readonly deb: string
  readonly newer: string | undefined
}

const NAMESPACES = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private']

/** Runs the life of an installation in namespaces of its own. Rejects with what it printed if it could not go on. */
export async function walkOf(options: WalkOptions): Promise<Seen> {
  return inNamespaces('package-walk.ts', options)
}

/** What image-walk.ts saw. */
export interface SeenOfImage {
  readonly init: unknown
  readonly users: unknown
  readonly expose: unknown
  readonly again: unknown
  readonly postgres: unknown
}

export const imageWalkOf = (image: string): Promise<SeenOfImage> => inNamespaces('image-walk.ts', { image })

async function inNamespaces<S>(name: string, options: object): Promise<S> {
  using folder = tempFolder()
  const program = join(checkout(), 'test/support/programs', name)
  const walk = JSON.stringify({ ...options, folder: folder.path })
  const args = [...NAMESPACES, '--', process.execPath, program, walk]
  const printed = await new Promise<string>((resolve, reject) => {
    execFile('unshare', args, { maxBuffer: 64 * 1024 * 1024, timeout: 540_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`The walk ended early.\n${stdout}\n${stderr}`))
      else resolve(stdout)
    })
  })
  return JSON.parse(printed)
}
