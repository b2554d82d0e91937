import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { checkout } from '../lab/checkout.ts'
import { findProgram } from '../lab/program.ts'
import type { Paths } from './paths.ts'
import { addressOf, DNS, type MachineId, SERVICE_USER } from './plan.ts'

/**
 * Gives the calling process, which must be in its own mount namespace, the files of a machine: names, users, an empty /run. The
 * host keeps its own. Code and STATE can be read by every user of the machine, also below a folder that only root may enter.
 */
export function mountMachine(machine: MachineId, paths: Paths): void {
  mount('-t', 'tmpfs', '-o', 'mode=755', 'run', '/run')
  const files: Readonly<Record<string, string>> = {
    'resolv.conf': [DNS.primary, DNS.secondary].map(({ address }) => `nameserver ${address}\n`).join(''),
    hosts: `127.0.0.1 localhost\n${addressOf(machine)} machine-${machine}\n`,
    passwd: withEntry('/etc/passwd', `${SERVICE_USER.id}:Drawbridge:/nonexistent:/usr/sbin/nologin`),
    group: withEntry('/etc/group', ''),
  }
  for (const [name, text] of Object.entries(files)) {
    const file = paths.of(machine, name)
    writeFileSync(file, text, { mode: 0o644 })
    putOver(file, join('/etc', name))
  }
  const code = readdirSync(checkout()).filter((name) => !name.startsWith('.'))
  openFolders([...code.map((name) => join(checkout(), name)), process.execPath, paths.folder])
}

const mount = (...args: string[]): void => void execFileSync(findProgram('mount', 'mount'), args, { stdio: 'pipe' })

function withEntry(file: string, more: string): string {
  const { name, id } = SERVICE_USER
  const others = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(`${name}:`))
  return `${[...others, `${name}:x:${id}:${more}`].join('\n')}\n`
}

/** resolv.conf is a link into /run on many systems. */
function putOver(file: string, target: string): void {
  const place = linkTarget(target)
  if (existsSync(place)) mount('--bind', file, place)
  else if (place.startsWith('/run/')) {
    mkdirSync(dirname(place), { recursive: true })
    copyFileSync(file, place)
  }
}

function linkTarget(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path))
  } catch {
    return path
  }
}

/** Replaces each folder that keeps other users out by an empty one that holds only the given paths. */
function openFolders(needed: readonly string[]): void {
  for (;;) {
    const closed = needed.map(closedAbove).find((folder) => folder !== undefined)
    if (closed === undefined) return
    const inside = outermost(needed.map((path) => realpathSync(path)).filter((path) => path.startsWith(`${closed}/`)))
    const kept = inside.map((path, i) => ({ path, file: statSync(path).isFile(), keep: `/run/kept/${i}` }))
    for (const { path, file, keep } of kept) bind(path, keep, file)
    mount('-t', 'tmpfs', '-o', 'mode=755', 'closed', closed)
    for (const { path, file, keep } of kept) {
      bind(keep, path, file)
      execFileSync(findProgram('umount', 'mount'), [keep], { stdio: 'pipe' })
    }
  }
}

function bind(from: string, to: string, isFile: boolean): void {
  mkdirSync(isFile ? dirname(to) : to, { recursive: true })
  if (isFile && !existsSync(to)) writeFileSync(to, '')
  mount('--bind', from, to)
}

const outermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}/`)))

/** The outermost folder above a path that other users cannot enter. */
function closedAbove(path: string): string | undefined {
  const above = ancestorsOf(realpathSync(path))
  return above.find((folder) => (statSync(folder).mode & 0o001) === 0)
}

/** From the root down, without the path itself. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...ancestorsOf(parent), parent]
}
