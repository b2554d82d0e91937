// Makes a release of this checkout, or says everything that keeps it from being one. It publishes nothing and makes no tag.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure } from '../packaging/files.ts'
import { copyrightText } from '../packaging/notices.ts'
import { billOfMaterials } from '../packaging/release/bill.ts'
import { tryTwoCommands } from '../packaging/release/clean-root.ts'
import { refusals } from '../packaging/release/conditions.ts'
import { factsOf } from '../packaging/release/facts.ts'
import { notesOf, writeSums } from '../packaging/release/papers.ts'
import { sourceDate } from '../packaging/source-date.ts'

const ROOT = resolve(import.meta.dirname, '..')
const print = (line) => process.stdout.write(`${line}\n`)

async function main() {
  const { values } = parseArgs({ options: { key: { type: 'string' }, out: { type: 'string' } } })
  const facts = factsOf(ROOT)
  const told = refusals(facts, values.key)
  if (told.length > 0)
    throw new Failure(
      `this is no release, and nothing was made:\n${told.map((sentence) => `- ${sentence}`).join('\n')}`,
    )
  if (process.getuid?.() !== 0) throw new Failure('The clean Debian in which it is tried needs root. Run this as root.')
  await tryTwoCommands(ROOT, print)
  const out = resolve(values.out ?? join(ROOT, 'packages', `release-${facts.version}`))
  make(facts, out)
  writeSums(out, values.key)
  print(`${out} has release ${facts.version}. Next: git tag --sign v${facts.version} ${facts.head}`)
}

function make({ version, changelog }, out) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  execFileSync(process.execPath, [join(ROOT, 'bin/package.mjs'), '--out', out], { stdio: 'inherit' })
  const bill = billOfMaterials({ checkout: ROOT, version, epoch: sourceDate(ROOT) })
  writeFileSync(join(out, `drawbridge-${version}.cdx.json`), bill)
  writeFileSync(join(out, 'THIRD-PARTY-NOTICES.txt'), copyrightText())
  writeFileSync(join(out, 'RELEASE-NOTES.md'), notesOf(changelog, version))
}

try {
  await main()
} catch (error) {
  if (!(error instanceof Failure)) throw error
  process.stderr.write(`${basename(import.meta.filename)}: ${error.message}\n`)
  process.exitCode = 1
}
