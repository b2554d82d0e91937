import { dirname } from 'node:path'
import type { BrokenPlace } from '../../../edge/served.ts'
import type { StepBudget } from '../patterns/pattern.ts'
import type { ConfigFiles } from './config-files.ts'
import { expandGlob, isGlob, TooManyPaths } from './glob.ts'
import type { Content, Statement } from './statements.ts'

/** A statement, its file, and the chain of includes that led to the file (the file itself is the last). */
export interface Located extends Statement {
  readonly path: string
  readonly trail: readonly string[]
}

/** Which includes are known without reading their files. */
export interface KnownIncludes {
  /** The kind of files that the pattern includes; undefined for files that must be read. */
  kindOf(pattern: string): string | undefined
  /** The files of that kind that must still be read. */
  filesToRead(kind: string): readonly string[]
  /** Whether the pattern includes the base file of the edge. */
  isOurs(pattern: string): boolean
}

interface Context {
  readonly content: Content
  /** Whether it is a place for servers or for their `listen` directives. */
  readonly hasListens: boolean
}

const READ_ALL: KnownIncludes = { kindOf: () => undefined, filesToRead: () => [], isOurs: () => false }

/** The name of a statement that stands where the base file of the edge is included. */
export const OUR_PLACE = 'drawbridge'

const MAX_DEPTH = 32
/** Files that include each other twice would take exponential time. */
const MAX_INCLUSIONS = 200_000
/** A large file that many blocks include would need memory for each of them. */
const MAX_STATEMENTS = 3_000_000

/**
 * The configuration with every `include` replaced by the content of its files. An include that is known without reading stays: its
 * argument is the kind. Create one object per reading.
 */
export class Included {
  readonly #files: ConfigFiles
  readonly #main: string
  readonly #broken = new Map<string, BrokenPlace>()
  #hidesListens: BrokenPlace | undefined
  readonly #known: KnownIncludes
  /** The remaining number of paths for all patterns of includes together. */
  readonly #paths = { left: MAX_INCLUSIONS }
  #inclusions = 0
  #statements = 0

  constructor(files: ConfigFiles, main: string, known: KnownIncludes = READ_ALL) {
    this.#files = files
    this.#main = main
    this.#known = known
  }

  /** The pattern budget of this reading. */
  get budget(): StepBudget {
    return this.#files.budget
  }

  broken(): BrokenPlace[] {
    return [...this.#broken.values()]
  }

  /** The first of them behind which servers, or places where they listen, may be hidden. */
  get hidesListens(): BrokenPlace | undefined {
    return this.#hidesListens
  }

  report(path: string, line: number | null, sentence: string, { hasListens }: Partial<Context> = {}): void {
    const place = { path, line, sentence }
    this.#broken.set(`${path}:${line}`, place)
    if (hasListens) this.#hidesListens ??= place
  }

  main(): Generator<Located> {
    return this.#file(this.#main, { content: 'directives', hasListens: true }, [])
  }

  /** The content of a block. */
  in({ name, block = [], path, trail }: Located): Generator<Located> {
    const content = name === 'map' ? 'entries' : 'directives'
    return this.#expanded(block, { content, hasListens: name === 'http' || name === 'server' }, path, trail)
  }

  *#expanded(
    statements: readonly Statement[],
    context: Context,
    path: string,
    trail: readonly string[],
  ): Generator<Located> {
    for (const { name, args, line, block, draft } of statements) {
      this.#statements += 1
      if (this.#statements > MAX_STATEMENTS) {
        this.report(this.#main, null, 'there are too many directives; the rest was not read', context)
        return
      }
      const located = { name, args, line, block, draft, path, trail }
      if (name !== 'include') {
        yield located
        continue
      }
      const kind = this.#known.kindOf(args[0] ?? '')
      if (kind !== undefined) yield { ...located, args: [kind] }
      if (this.#known.isOurs(this.#pattern(located))) yield { ...located, name: OUR_PLACE }
      const files = kind === undefined ? this.#named(located, context) : this.#known.filesToRead(kind)
      for (const file of files) yield* this.#include(file, context, located)
    }
  }

  *#include(file: string, context: Context, { path, line, trail }: Located): Generator<Located> {
    this.#inclusions += 1
    if (trail.includes(file)) this.report(path, line, 'this include leads back to the same file', context)
    else if (trail.length > MAX_DEPTH) this.report(path, line, 'includes are nested too deeply', context)
    else if (this.#inclusions > MAX_INCLUSIONS)
      this.report(path, line, 'too many files are included; the rest was not read', context)
    else yield* this.#file(file, context, trail)
  }

  *#file(file: string, context: Context, trail: readonly string[]): Generator<Located> {
    const loaded = this.#files.load(file, context.content)
    if ('unreadable' in loaded) {
      this.report(file, null, loaded.unreadable, context)
      return
    }
    yield* this.#expanded(loaded.statements, context, file, [...trail, file])
    if (loaded.fault) this.report(file, loaded.fault.line, loaded.fault.message, context)
  }

  /** Relative names start at the folder of the main file. The path is not normalized: it is the path that nginx opens. */
  #pattern({ args: [name = ''] }: Statement): string {
    return name.startsWith('/') ? name : `${dirname(this.#main)}/${name}`
  }

  #named(statement: Located, context: Context): string[] {
    const pattern = this.#pattern(statement)
    const list = (folder: string): readonly string[] => {
      const listed = this.#files.list(folder)
      if ('names' in listed) return listed.names
      this.report(folder, null, listed.unreadable, context)
      return []
    }
    try {
      const folders = { list, exists: (path: string) => this.#files.exists(path) }
      return isGlob(pattern) ? expandGlob(pattern, folders, this.#paths) : [pattern]
    } catch (error) {
      if (!(error instanceof TooManyPaths)) throw error
      this.report(statement.path, statement.line, error.message, context)
      return []
    }
  }
}
