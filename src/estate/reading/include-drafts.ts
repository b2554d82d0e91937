import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rewrite } from './text/directives.ts'
import { expandGlob, type Folders, isGlob, TooManyPaths } from './text/glob.ts'

/** No configuration that works includes deeper. */
const MAX_DEPTH = 32

/** Copies of the files that have another text, and of all that include one of them. */
export class Drafts {
  /** The texts by the path of the draft. */
  readonly written = new Map<string, string>()
  readonly #originals = new Map<string, string>()
  readonly #folder: string
  readonly #main: string
  readonly #changed: ReadonlyMap<string, string | null>

  /** `changed`: the texts by the path by which nginx includes the file. Null: the file goes. */
  constructor(folder: string, main: string, changed: ReadonlyMap<string, string | null>) {
    this.#folder = folder
    this.#main = main
    this.#changed = changed
  }

  originalOf(draft: string): string | undefined {
    return this.#originals.get(draft)
  }

  /** The text of the main file with its includes led to drafts. */
  led(main: string): string {
    return this.#ledText(main, 0) ?? main
  }

  /** Undefined if it is as it was, and so is all that it includes. */
  #changedTextOf(path: string, depth: number): string | undefined {
    const given = this.#changed.get(path)
    return this.#ledText(given ?? readFileSync(path, 'utf8'), depth) ?? given ?? undefined
  }

  /** Undefined if no include leads elsewhere. */
  #ledText(text: string, depth: number): string | undefined {
    let hasChanged = false
    const rewritten = rewrite(text, ({ name, args }) => {
      if (name !== 'include' || depth > MAX_DEPTH) return undefined
      const files = namedBy(args[0] ?? '', dirname(this.#main))
      if (!files) return undefined
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
    const text = readable(path) ? this.#changedTextOf(path, depth) : undefined
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

/** Undefined if the pattern matches too many paths: then it is included as it is. */
function namedBy(pattern: string, prefix: string): readonly string[] | undefined {
  try {
    return pathsOf(pattern, prefix)
  } catch (error) {
    if (error instanceof TooManyPaths) return undefined
    throw error
  }
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
