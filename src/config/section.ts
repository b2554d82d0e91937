import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml'

/** Every fault of a configuration at once, each with file, line, field and what is allowed. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
  }
}

/** Turns a value of the file into what the program uses; undefined means "not allowed". */
export type Parse<T> = (value: unknown) => T | undefined

/** Where faults are gathered, and how a place in the file is told. */
interface Report {
  readonly file: string
  readonly lines: LineCounter
  readonly faults: string[]
}

/** One mapping of the file. Whatever is not asked for by the time of `close` is an unknown setting. */
export class Section {
  readonly #map: YAMLMap | undefined
  readonly #path: string
  readonly #report: Report
  readonly #known = new Set<string>()
  readonly #children: Section[] = []

  constructor(node: Node | null | undefined, path: string, report: Report) {
    this.#path = path
    this.#report = report
    this.#map = isMap(node) ? node : undefined
    if (node && !this.#map && !(isScalar(node) && node.value === null))
      this.#fault(node, path || 'the file', 'settings')
  }

  has(key: string): boolean {
    return this.#node(key) !== undefined
  }

  read<T>(key: string, fallback: T, parse: Parse<T>, allowed: string): T {
    const node = this.#node(key)
    if (!node) return fallback
    const value = parse(node.toJSON())
    if (value === undefined) this.#fault(node, this.#name(key), allowed)
    return value ?? fallback
  }

  required<T>(key: string, parse: Parse<T>, placeholder: T, allowed: string): T {
    if (!this.has(key)) this.refuse(key, `is missing: ${allowed}`)
    return this.read(key, placeholder, parse, allowed)
  }

  list<T>(key: string, fallback: readonly T[], parse: Parse<T>, allowed: string): readonly T[] {
    const node = this.#node(key)
    if (!node) return fallback
    if (!isSeq(node)) {
      this.#fault(node, this.#name(key), `a list of ${allowed}`)
      return fallback
    }
    return node.items.flatMap((item, index) => {
      const value = parse((item as Node).toJSON())
      if (value === undefined) this.#fault(item as Node, `${this.#name(key)}[${index}]`, allowed)
      return value === undefined ? [] : [value]
    })
  }

  section(key: string): Section {
    const child = new Section(this.#node(key), this.#name(key), this.#report)
    this.#children.push(child)
    return child
  }

  /** The keys of this mapping, for sections whose keys are names that the administrator chose. */
  keys(): string[] {
    return this.#map?.items.map((pair) => keyText(pair.key)) ?? []
  }

  /** A fault that only a look at several settings together shows. */
  refuse(key: string, sentence: string): void {
    const { file, faults } = this.#report
    faults.push(`${file}:${this.#line(this.#node(key) ?? this.#map)}: ${this.#name(key)} ${sentence}`)
  }

  close(): void {
    for (const pair of this.#map?.items ?? []) {
      const key = keyText(pair.key)
      if (this.#known.has(key)) continue
      const known = [...this.#known].join(', ')
      this.#report.faults.push(
        `${this.#report.file}:${this.#line(pair.key as Node)}: ${this.#name(key)} is not a setting; allowed here: ${known}`,
      )
    }
    for (const child of this.#children) child.close()
  }

  #node(key: string): Node | undefined {
    this.#known.add(key)
    const pair = this.#map?.items.find((candidate) => keyText(candidate.key) === key)
    return pair?.value && !(isScalar(pair.value) && pair.value.value === null) ? (pair.value as Node) : undefined
  }

  #name(key: string): string {
    return this.#path ? `${this.#path}.${key}` : key
  }

  #line(node: Node | undefined | null): number {
    return node?.range ? this.#report.lines.linePos(node.range[0]).line : 1
  }

  #fault(node: Node, name: string, allowed: string): void {
    const { file, faults } = this.#report
    faults.push(`${file}:${this.#line(node)}: ${name} is not allowed; allowed: ${allowed}`)
  }
}

/** The whole file as a section. The faults are gathered in `faults`; a file that is not YAML is refused at once. */
export function openConfiguration(text: string, file: string): { root: Section; faults: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const broken = document.errors.map(
    (error) =>
      `${file}:${lines.linePos(error.pos[0]).line}: not YAML: ${(error.message.split('\n')[0] ?? '').replace(/ at line .*/, '')}`,
  )
  if (broken.length > 0) throw new ConfigError(broken)
  const faults: string[] = []
  return { root: new Section(document.contents, '', { file, lines, faults }), faults }
}

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)
