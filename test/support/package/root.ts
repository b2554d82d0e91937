import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export interface Ended {
  readonly code: number
  /** Standard output and standard error. */
  readonly output: string
}

/**
 * A root of a Debian system that may be changed: an overlay over another one, which stays as it is. Must be made in a mount namespace of
 * the calling process, whose end removes it.
 */
export class Root {
  readonly path: string
  /** What differs from the lower root. */
  readonly changes: string

  /** `folder`: on a tmpfs or another file system than `lower`. */
  constructor(lower: string, folder: string) {
    const [path, upper, work] = ['root', 'upper', 'work'].map((name) => join(folder, name)) as [string, string, string]
    for (const made of [path, upper, work]) mkdirSync(made, { recursive: true, mode: 0o755 })
    this.path = path
    this.changes = upper
    mount('-t', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, 'overlay', path)
    mount('-t', 'proc', 'proc', join(path, 'proc'))
    mount('--rbind', '/dev', join(path, 'dev'))
    this.emptyRun()
    // The system of this machine may have been used without the package, and may forbid packages to start and stop services.
    for (const left of ['etc/drawbridge', 'var/lib/drawbridge', 'etc/nginx/drawbridge', 'usr/sbin/policy-rc.d'])
      rmSync(join(path, left), { recursive: true, force: true })
  }

  /** A new /run, as after a boot. */
  emptyRun(): void {
    mount('-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', join(this.path, 'run'))
    mkdirSync(join(this.path, 'run/lock'), { mode: 0o1777 })
  }

  at(path: string): string {
    return join(this.path, path)
  }

  /** Runs a program inside. */
  run(...command: readonly string[]): Promise<Ended> {
    const environment = {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      DEBIAN_FRONTEND: 'noninteractive',
      LC_ALL: 'C.UTF-8',
    }
    return new Promise((resolve) => {
      const options = { env: environment, maxBuffer: 16 * 1024 * 1024 }
      execFile('/usr/sbin/chroot', [this.path, ...command], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
        resolve({ code, output: `${stdout}${stderr}` })
      })
    })
  }
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' })
}

/** Every file, folder and link below a folder, with owner, mode and content. */
export function fingerprints(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return Object.fromEntries(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((path) => [path.slice(folder.length), fingerprint(path)]),
  )
}

function fingerprint(path: string): string {
  const found = lstatSync(path)
  const about = `${found.uid}:${found.gid} ${found.mode.toString(8)}`
  if (found.isSymbolicLink()) return `${about} -> ${readlinkSync(path)}`
  return found.isFile() ? `${about} ${createHash('sha256').update(readFileSync(path)).digest('hex')}` : about
}
