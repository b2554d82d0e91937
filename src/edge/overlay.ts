import { basename, dirname } from 'node:path'

/** The files below an edge's folder as they would be: what stands, some of it replaced by drafts or taken away. */
export class Overlay {
  /** Paths relative to the folder. */
  readonly #standing: readonly string[]
  /** Where the draft of a file is; null: it would not be there. */
  readonly #changed: ReadonlyMap<string, string | null>
  readonly #folder: string
  readonly #used = new Set<string>()

  constructor(folder: string, standing: readonly string[], changed: ReadonlyMap<string, string | null>) {
    this.#folder = folder
    this.#standing = standing
    this.#changed = changed
  }

  /**
   * An include of files of ours, written out file by file in nginx's own order; undefined for any other include. Patterns
   * are those that we write ourselves: a star and an ending.
   */
  writtenOut(pattern: string): string | undefined {
    const folder = this.#relative(dirname(pattern))
    if (folder === undefined) return undefined
    const ending = basename(pattern).slice(1)
    const names = [...new Set([...this.#standing, ...this.#changed.keys()])].filter(
      (path) => dirname(path) === folder && path.endsWith(ending) && !basename(path).startsWith('.'),
    )
    const files = names.toSorted().flatMap((path) => this.#placeOf(path) ?? [])
    return files.map((file) => `include ${file};`).join(' ')
  }

  /** Drafts that nothing included so far: a test would not have seen them. */
  unused(): string[] {
    return [...this.#changed].flatMap(([path, draft]) => (draft === null || this.#used.has(path) ? [] : [path]))
  }

  /** The name under which a file that was tested stands, or would stand. */
  liveName(file: string): string {
    const [path] = [...this.#changed].find(([, draft]) => draft === file) ?? []
    return path === undefined ? file : `${this.#folder}/${path}`
  }

  #placeOf(path: string): string | undefined {
    this.#used.add(path)
    const draft = this.#changed.get(path)
    return draft === undefined ? `${this.#folder}/${path}` : (draft ?? undefined)
  }

  #relative(folder: string): string | undefined {
    if (folder === this.#folder) return '.'
    return folder.startsWith(`${this.#folder}/`) ? folder.slice(this.#folder.length + 1) : undefined
  }
}
