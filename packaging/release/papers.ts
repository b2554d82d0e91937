import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SUMS = 'SHA256SUMS'

/** What CHANGELOG.md says of a version: what is new, and what to do at an upgrade. */
export function notesOf(changelog: string, version: string): string {
  const part = changelog.split(/^## /m).find((text) => text.startsWith(`${version} `))
  if (part === undefined) throw new Error(`CHANGELOG.md has no version ${version}.`)
  return `# Drawbridge ${part.trim()}\n`
}

/** Writes the sums of all files of a folder, and signs them with a key of GnuPG. Without a key they stay unsigned. */
export function writeSums(folder: string, key: string | undefined): void {
  const files = readdirSync(folder)
    .filter((name) => !name.startsWith(SUMS))
    .sort()
  const sum = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
  writeFileSync(join(folder, SUMS), files.map((name) => `${sum(name)}  ${name}\n`).join(''))
  if (key === undefined) return
  const signed = ['--output', join(folder, `${SUMS}.asc`), '--detach-sign', join(folder, SUMS)]
  execFileSync('gpg', ['--batch', '--yes', '--armor', '--local-user', key, ...signed], { stdio: 'pipe' })
}
