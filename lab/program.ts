import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** Debian installs servers in folders that are not in the PATH of an ordinary user. */
const SERVER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin']

export function findProgram(name: string, debianPackage: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SERVER_FOLDERS]
  const path = folders.map((folder) => join(folder, name)).find(isExecutable)
  if (!path) throw new Error(`The program ${name} is missing. Install the package ${debianPackage}.`)
  return path
}

export const isRoot = (): boolean => process.getuid?.() === 0

/** Whether every user can enter the folder: servers that drop root privileges must be able to. */
export function canAnyoneEnter(folder: string): boolean {
  const parent = dirname(folder)
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || canAnyoneEnter(parent))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
