import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** An ordinary user's PATH leaves out the folders that Debian puts servers into. */
const SERVER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin']

export function findProgram(name: string, debianPackage: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SERVER_FOLDERS]
  const path = folders.map((folder) => join(folder, name)).find(isExecutable)
  if (!path) throw new Error(`The program ${name} is missing: install the package ${debianPackage}.`)
  return path
}

export const isRoot = (): boolean => process.getuid?.() === 0

/** Whether a user who owns nothing of it can walk into the folder: servers that give up root must be able to. */
export function canAnyoneReach(folder: string): boolean {
  const parent = dirname(folder)
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || canAnyoneReach(parent))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
