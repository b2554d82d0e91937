import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createFile } from '../../primitives/durable-file.ts'
import { SHADOW_PREFIX } from '../config/layout.ts'
import { withEdgeFaults } from '../files/files.ts'
import { testConfiguration } from '../process/nginx-program.ts'
import type { Refusal } from '../reading/refusal.ts'
import { rewrite } from '../reading/text/directives.ts'
import type { EdgeSettings } from '../settings.ts'
import { pathsOf } from './sites.ts'
import type { TakenOut } from './take-out.ts'

/**
 * Lets nginx test its configuration as if some files had another text, and changes none of them. During the test a copy of the main
 * file lies beside it, because relative paths start there.
 */
export async function testWithout(
  settings: Pick<EdgeSettings, 'config' | 'binary' | 'prefix'>,
  changed: TakenOut,
): Promise<Refusal | undefined> {
  const { config } = settings
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-without-'))
  const shadow = join(dirname(config), `${SHADOW_PREFIX}${process.pid}-${randomBytes(8).toString('hex')}`)
  const drafts = new Drafts(folder, config, changed)
  try {
    const text = drafts.changedTextOf(config) ?? readFileSync(config, 'utf8')
    for (const [path, draft] of drafts.written) await createFile(path, draft, 0o600, false)
    await withEdgeFaults(shadow, () => createFile(shadow, text, 0o600, false))
    const refusal = await testConfiguration(settings, shadow)
    const { file } = refusal ?? {}
    if (!refusal || file === undefined) return refusal
    return { ...refusal, file: file === shadow ? config : (drafts.originalOf(file) ?? file) }
  } finally {
    rmSync(shadow, { force: true })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** No configuration that works includes deeper. */
const MAX_DEPTH = 32

/** Copies of the files that have another text, and of all that include one of them. */
class Drafts {
  /** The texts by the path of the draft. */
  readonly written = new Map<string, string>()
  readonly #originals = new Map<string, string>()
  readonly #folder: string
  readonly #main: string
  readonly #changed: TakenOut

  constructor(folder: string, main: string, changed: TakenOut) {
    this.#folder = folder
    this.#main = main
    this.#changed = changed
  }

  originalOf(draft: string): string | undefined {
    return this.#originals.get(draft)
  }

  /** The text of a file with its includes led to drafts. Undefined if it is as it was, and so is all that it includes. */
  changedTextOf(path: string, depth = 0): string | undefined {
    const given = this.#changed.get(path)
    const text = given ?? readFileSync(path, 'utf8')
    let hasChanged = given !== undefined
    const rewritten = rewrite(text, ({ name, args }) => {
      if (name !== 'include' || depth > MAX_DEPTH) return undefined
      const files = pathsOf(args[0] ?? '', dirname(this.#main))
      const led = files.map((file) => ({ file, to: this.#draftOf(file, depth + 1) }))
      if (led.every(({ file, to }) => file === to)) return undefined
      hasChanged = true
      return led.flatMap(({ to }) => (to === null ? [] : [`include "${to}";`])).join(' ')
    })
    return hasChanged ? rewritten : undefined
  }

  /** The path to include in place of a file: itself, a draft, or null if it goes. */
  #draftOf(path: string, depth: number): string | null {
    if (this.#changed.get(path) === null) return null
    const text = readable(path) ? this.changedTextOf(path, depth) : undefined
    if (text === undefined) return path
    const draft = join(this.#folder, String(this.written.size))
    this.written.set(draft, text)
    this.#originals.set(draft, path)
    return draft
  }
}

/** What cannot be read or parsed is included as it is, and nginx says what is wrong with it. */
function readable(path: string): boolean {
  try {
    rewrite(readFileSync(path, 'utf8'), () => undefined)
    return true
  } catch {
    return false
  }
}
