import { type StaticDecode, type TObject, type TSchema, Type } from 'typebox'
import { Decode } from 'typebox/value'
import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml'

/** All faults of a configuration. Each line has file, line number, setting and the allowed values. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** The path of keys and list positions to a setting. */
export type Place = readonly (string | number)[]

/** A YAML file with the lines of its settings. */
export class ConfigDocument {
  readonly faults: string[] = []
  readonly #file: string
  readonly #lines = new LineCounter()
  readonly #root: Node | null

  /** Throws a ConfigError for a text that is not YAML. */
  constructor(text: string, file: string) {
    this.#file = file
    const document = parseDocument(text, { lineCounter: this.#lines })
    const broken = document.errors.map(({ pos, message }) => {
      const reason = (message.split('\n')[0] ?? '').replace(/ at line .*/, '')
      return `${file}:${this.#lines.linePos(pos[0]).line}: The file is not valid YAML: ${reason}.`
    })
    if (broken.length > 0) throw new ConfigError(broken)
    this.#root = document.contents
  }

  /** Reads the settings by their schema and adds defaults. Throws a ConfigError that lists every fault. */
  read<T extends TObject>(schema: T): StaticDecode<T> {
    const value = this.#take(schema, this.#root, [])
    this.assertSound()
    // Every member was decoded by its own schema.
    return value as StaticDecode<T>
  }

  /** The defaults of a section that is not in the file. */
  defaultsOf<T extends TObject>(schema: T): StaticDecode<T> {
    return this.#take(schema, undefined, []) as StaticDecode<T>
  }

  /** Adds a fault that no schema can express: about several settings, or about a file that a setting names. */
  refuse(place: Place, sentence: string): void {
    this.#fault(this.#nodeAt(place) ?? this.#nodeAt(place.slice(0, -1)), place, sentence)
  }

  assertSound(): void {
    if (this.faults.length > 0) throw new ConfigError(this.faults)
  }

  #take(schema: TSchema, given: Node | null | undefined, place: Place): unknown {
    const node = !given || isNothing(given) ? undefined : given
    if (Type.IsObject(schema)) return this.#takeObject(schema, node, place)
    if (node === undefined) return this.#absent(schema, place)
    if (Type.IsRecord(schema)) return this.#takeRecord(schema, node, place)
    if (Type.IsArray(schema)) return this.#takeList(schema, node, place)
    try {
      return Decode(schema, node.toJSON())
    } catch {
      this.#fault(node, place, `is not valid. Allowed: ${allowedBy(schema)}.`)
      return undefined
    }
  }

  #absent(schema: TSchema, place: Place): unknown {
    if ('default' in schema) return Decode(schema, schema.default)
    if (!Type.IsOptional(schema)) this.refuse(place, `is missing. Set it to ${allowedBy(schema)}.`)
    return undefined
  }

  #takeObject(schema: TObject, node: Node | undefined, place: Place): unknown {
    if (node === undefined && Type.IsOptional(schema)) return undefined
    const map = this.#mapOf(node, place)
    const members = Object.entries(schema.properties).map(([key, member]) => [
      key,
      this.#takeMember(member, map && pairOf(map, key), [...place, key]),
    ])
    for (const { key } of map?.items ?? []) {
      if (Object.hasOwn(schema.properties, keyText(key))) continue
      const allowed = Object.keys(schema.properties).join(', ')
      this.#fault(key as Node, [...place, keyText(key)], `is not a setting. Allowed here: ${allowed}.`)
    }
    return Object.fromEntries(members)
  }

  /** A key without a value is what is left when the lines below it are commented out. That asks for none, not for the default. */
  #takeMember(schema: TSchema, pair: Pair | undefined, place: Place): unknown {
    const given = pair?.value as Node | null | undefined
    if (!pair || (given && !isNothing(given)) || !hasAmbiguousAbsence(schema)) return this.#take(schema, given, place)
    this.#fault(pair.key as Node, place, `has no value. Write ${noneOf(schema)}, or delete the line.`)
    return undefined
  }

  /** A mapping whose keys the administrator chooses. */
  #takeRecord(schema: TSchema, node: Node, place: Place): unknown {
    const [member] = Object.values((schema as { patternProperties?: Record<string, TSchema> }).patternProperties ?? {})
    const map = this.#mapOf(node, place)
    if (!map || !member) return undefined
    return Object.fromEntries(
      map.items.map(({ key, value }) => [
        keyText(key),
        this.#take(member, value as Node | null, [...place, keyText(key)]),
      ]),
    )
  }

  #takeList(
    schema: TSchema & { readonly items: TSchema; readonly minItems?: number },
    node: Node,
    place: Place,
  ): unknown {
    if (!isSeq(node)) {
      this.#fault(node, place, `is not valid. Allowed: ${allowedBy(schema)}.`)
      return undefined
    }
    if (node.items.length < (schema.minItems ?? 0))
      this.#fault(node, place, `is empty. Set it to ${allowedBy(schema)}.`)
    return node.items.map((item, index) => this.#take(schema.items, item as Node, [...place, index]))
  }

  #mapOf(node: Node | undefined, place: Place): YAMLMap | undefined {
    if (node === undefined || isMap(node)) return node
    this.#fault(node, place, 'is not valid. Allowed: settings.')
    return undefined
  }

  /** Whether the file has the setting. */
  isSet(place: Place): boolean {
    return this.#nodeAt(place) !== undefined
  }

  #nodeAt(place: Place): Node | undefined {
    let node: Node | null | undefined = this.#root
    for (const step of place) {
      if (isMap(node)) node = memberOf(node, String(step))
      else if (isSeq(node)) node = node.items[Number(step)] as Node | undefined
      else return undefined
    }
    return !node || isNothing(node) ? undefined : node
  }

  #fault(node: Node | null | undefined, place: Place, sentence: string): void {
    const line = node?.range ? this.#lines.linePos(node.range[0]).line : 1
    this.faults.push(`${this.#file}:${line}: ${nameOf(place)} ${sentence}`)
  }
}

const allowedBy = (schema: TSchema): string =>
  Type.IsArray(schema)
    ? `a list of ${allowedBy(schema.items)}`
    : String((schema as { readonly allowed?: string }).allowed ?? 'settings')

const nameOf = (place: Place): string =>
  place.length === 0
    ? 'The file'
    : place
        .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
        .join('')
        .replace(/^\./, '')

/** A section or a single value counts as absent if its key has no value. */
const isNothing = (node: Node): boolean => isScalar(node) && node.value === null

/** Whether a setting can be empty, and that can differ from its absence: a list, or a mapping that is not empty by default. */
const hasAmbiguousAbsence = (schema: TSchema): boolean =>
  Type.IsArray(schema) ||
  (Type.IsRecord(schema) &&
    ('default' in schema ? Object.keys(schema.default as object).length > 0 : Type.IsOptional(schema)))

const noneOf = (schema: TSchema): string => {
  if (!Type.IsArray(schema)) return '{} for none'
  return 'minItems' in schema ? allowedBy(schema) : '[] for none'
}

const pairOf = (map: YAMLMap, key: string): Pair | undefined => map.items.find((pair) => keyText(pair.key) === key)

const memberOf = (map: YAMLMap, key: string): Node | undefined =>
  (pairOf(map, key)?.value as Node | null | undefined) ?? undefined

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)
