import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** A reason that the administrator of the building machine can act on. */
export class Failure extends Error {}

const PACKAGE_OF: Readonly<Record<string, string>> = {
  'dpkg-deb': 'dpkg',
  mmdebstrap: 'mmdebstrap',
  strip: 'binutils',
  tar: 'tar',
}

export function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } })
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: Buffer }
    if (code === 'ENOENT')
      throw new Failure(`${program} is missing. Install the Debian package ${PACKAGE_OF[program] ?? program}.`)
    throw new Failure(`${program} failed: ${String(stderr).trim()}`)
  }
}

export function put(from: string, to: string, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

export function write(to: string, content: string | Uint8Array): void {
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, content)
}

/** Copies the files that `isWanted` lets through. Follows no link: there are none to follow. */
export function putTree(from: string, to: string, isWanted: (path: string) => boolean = () => true): void {
  for (const path of filesUnder(from)) {
    const relative = path.slice(from.length + 1)
    if (isWanted(relative)) put(path, join(to, relative))
  }
}

/** All files, sorted. */
export function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

const isProgram = (file: string) => (statSync(file).mode & 0o100) !== 0

/** Gives every file and folder its mode and time, whatever the umask and the time of the build were. */
export function normalize(folder: string, epoch: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) chmodSync(path, isProgram(path) ? 0o755 : 0o644)
    lutimesSync(path, epoch, epoch)
  }
  chmodSync(folder, 0o755)
  lutimesSync(folder, epoch, epoch)
}

// biome-ignore lint/suspicious/noExplicitAny: files of npm packages and our own, each read for a few known keys.
export const readJson = (file: string): any => JSON.parse(readFileSync(file, 'utf8'))
