import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rewrite } from './text/directives.ts'
import { expandGlob, type Folders, isGlob, TooManyPaths } from './text/glob.ts'

/** No working configuration has deeper includes. */
const MAX_DEPTH = 32

/** Copies of the files with a changed text, and of all files that include one of them. */
export class Drafts {
  /** The texts by the path of the draft. */
  readonly written = new Map<string, string>()
  readonly #originals = new Map<string, string>()
  readonly #folder: string
  readonly #main: string
  readonly #changed: ReadonlyMap<string, string | null>

  /** `changed`: the texts by the path by which nginx includes the file. Null: the file is removed. */
  constructor(folder: string, main: string, changed: ReadonlyMap<string, string | null>) {
    this.#folder = folder
    this.#main = main
    this.#changed = changed
  }

  originalOf(draft: string): string | undefined {
    return this.#originals.get(draft)
  }

  /** The text of the main file with includes that point to the drafts. */
  led(main: string): string {
    return this.#ledText(main, 0) ?? main
  }

  /** Undefined if neither the file nor any of its includes has changed. */
  #changedTextOf(path: string, depth: number): string | undefined {
    const given = this.#changed.get(path)
    return this.#ledText(given ?? readFileSync(path, 'utf8'), depth) ?? given ?? undefined
  }

  /** Undefined if no include changes. */
  #ledText(text: string, depth: number): string | undefined {
    let hasChanged = false
    const rewritten = rewrite(text, ({ name, args }) => {
      if (name !== 'include' || depth > MAX_DEPTH) return undefined
      const files = namedBy(args[0] ?? '', dirname(this.#main))
      if (!files) return undefined
      const led = files.map((file) => ({ file, to: this.#draftOf(file, depth + 1) }))
      if (led.every(({ file, to }) => file === to)) return undefined
      hasChanged = true
      return led.flatMap(({ to }) => (to === null ? [] : [includeOf(to)])).join(' ')
    })
    return hasChanged ? rewritten : undefined
  }

  /** The path to include in place of a file: the file itself, its draft, or null if the file is removed. */
  #draftOf(path: string, depth: number): string | null {
    if (this.#changed.get(path) === null) return null
    const text = readable(path) ? this.#changedTextOf(path, depth) : undefined
    if (text === undefined) return path
    const draft = join(this.#folder, String(this.written.size))
    this.written.set(draft, text)
    this.#originals.set(draft, path)
    return draft
  }
}

/** A file that cannot be read or parsed is included unchanged, and nginx reports the fault. */
function readable(path: string): boolean {
  try {
    rewrite(readFileSync(path, 'utf8'), () => undefined)
    return true
  } catch {
    return false
  }
}

/** Undefined if the pattern matches too many paths: then the include stays unchanged. */
function namedBy(pattern: string, prefix: string): readonly string[] | undefined {
  try {
    return pathsOf(pattern, prefix)
  } catch (error) {
    if (error instanceof TooManyPaths) return undefined
    throw error
  }
}

/** Includes one file, whatever its name. nginx takes a name with a star for a pattern, in which a backslash escapes. */
export function includeOf(path: string): string {
  const name = isGlob(path) ? path.replaceAll(/[\\*?[\]]/g, '\\$&') : path
  return `include "${name.replaceAll(/[\\"]/g, '\\$&')}";`
}

/** The files that an include names. Throws TooManyPaths. Relative ones start at `prefix`. */
export function pathsOf(pattern: string, prefix: string, folders: Folders = FOLDERS): readonly string[] {
  const absolute = pattern.startsWith('/') ? pattern : `${prefix}/${pattern}`
  return isGlob(absolute) ? expandGlob(absolute, folders) : [absolute]
}

const FOLDERS: Folders = {
  list: (folder) => (existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : []),
  exists: existsSync,
}
