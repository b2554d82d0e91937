import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../primitives/durable-file.ts'

const markIn = (stateDir: string): string => join(stateDir, 'retired')

/** Marks that the services have retired this edge: no name points to it, so it may leave with the hosts that it still serves. */
export async function markRetired(stateDir: string): Promise<void> {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  await replaceFile(markIn(stateDir), '', 0o600)
}

export const isRetired = (stateDir: string): boolean => existsSync(markIn(stateDir))

/** Removes the mark: an agent that joins again is an ordinary edge. */
export const forgetRetirement = (stateDir: string): void => rmSync(markIn(stateDir), { force: true })
