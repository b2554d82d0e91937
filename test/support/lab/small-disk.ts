import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram, isRoot } from '../../../lab/program.ts'
import { tempFolder } from '../temp-folder.ts'

export interface SmallDisk {
  /** Fills the disk completely. */
  fill(): void
  free(): void
  readOnly(): void
  writable(): void
  /** Unmounts the disk and keeps the files of the folder. May be called twice. */
  unmount(): void
}

const FILLER = '.filler'

/** Moves a folder with its files to a new disk of this size in KiB. */
export function onSmallDisk(folder: string, kib: number): SmallDisk {
  if (!isRoot()) throw new Error('This test mounts small disks, which only root may do. Run it as root.')
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

/** Keeps exactly the files of the folder. */
function keeping(folder: string, change: () => void): void {
  using held = tempFolder()
  copyAtRest(folder, held.path)
  change()
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  copy(held.path, folder)
}

/** The service removes old generations after it has answered, and a file that goes in the middle ends a copy. */
function copyAtRest(from: string, to: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      copy(from, to)
      return
    } catch (error) {
      if (attempt === 20) throw error
      for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true })
      execFileSync('sleep', ['0.1'])
    }
  }
}

const copy = (from: string, to: string): void => void execFileSync('cp', ['-a', '--no-target-directory', from, to])

/** Repeats until the disk is full, because other programs can write at the same time. */
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
