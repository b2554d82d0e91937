import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram, isRoot } from '../../../lab/program.ts'
import { tempFolder } from '../temp-folder.ts'

export interface SmallDisk {
  /** Not a byte is left from now on. */
  fill(): void
  free(): void
  readOnly(): void
  writable(): void
  /** Takes the disk away; what the folder holds stays in it. May be called twice. */
  unmount(): void
}

const FILLER = '.filler'

/** Puts a folder, with what is in it, on a disk of its own of so many KiB. */
export function onSmallDisk(folder: string, kib: number): SmallDisk {
  if (!isRoot()) throw new Error('This test mounts small disks, which only root may do: run it as root.')
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const mode = (lstatSync(folder).mode & 0o777).toString(8)
  keeping(folder, () => mount('-t', 'tmpfs', '-o', `size=${kib}k,mode=${mode}`, 'drawbridge-test', folder))
  let isMounted = true
  const free = () => rmSync(join(folder, FILLER), { force: true })
  return {
    fill: () => fill(folder),
    free,
    readOnly: () => mount('-o', 'remount,ro', folder),
    writable: () => mount('-o', 'remount,rw', folder),
    unmount: () => {
      if (!isMounted) return
      isMounted = false
      mount('-o', 'remount,rw', folder)
      free()
      keeping(folder, () => execFileSync(findProgram('umount', 'mount'), ['-l', folder], { stdio: 'pipe' }))
    },
  }
}

const mount = (...args: string[]): void => void execFileSync(findProgram('mount', 'mount'), args, { stdio: 'pipe' })

/** What is in the folder before is in it after, and nothing else. */
function keeping(folder: string, change: () => void): void {
  using held = tempFolder()
  copy(folder, held.path)
  change()
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  copy(held.path, folder)
}

const copy = (from: string, to: string): void => void execFileSync('cp', ['-a', '--no-target-directory', from, to])

/** Whoever else writes there meanwhile takes part of what was free: then the rest is filled. */
function fill(folder: string): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail === 0) return
    try {
      appendFileSync(join(folder, FILLER), Buffer.alloc(bavail * bsize))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
