import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { tempFolder } from './temp-folder.ts'

export const CONFIG_FILE = '/etc/drawbridge/drawbridge.yaml'

/** The configuration that the service reads from this text in its usual place. */
export const configOf = (text: string, environment: Readonly<Record<string, string>> = {}) =>
  readConfig(text, CONFIG_FILE, environment)

/** The text of a secret in a file, until the test ends. */
export function secretFile(text: string, mode = 0o600): string {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const path = join(folder.path, 'secret')
  writeFileSync(path, text, { mode })
  return path
}
