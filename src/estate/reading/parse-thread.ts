import { parentPort } from 'node:worker_threads'
import { type Parsed, type ParseRequest, parseConfiguration } from './parsed.ts'
import type { MapText } from './servers/value-map.ts'
import { ConfigFiles } from './text/config-files.ts'

/** A list of a `Parsed` may have ten thousand items. They follow in pieces, so that no message keeps the other thread busy for long. */
export type Item =
  | readonly ['server', Parsed['servers'][number]]
  /** Further names of the last server. */
  | readonly ['names', readonly string[]]
  | readonly ['foreign', string, Parsed['foreign'] extends ReadonlyMap<string, infer S> ? S : never]
  | readonly ['own', string, Parsed['own'] extends ReadonlyMap<string, infer S> ? S : never]
  | readonly ['entry', string, string, string]

export interface Head extends Omit<Parsed, 'servers' | 'foreign' | 'own' | 'maps'> {
  /** Without the entries. */
  readonly maps: ReadonlyMap<string, MapText>
}

/** `want`: `logs` is an answer without servers and maps. */
export interface Question {
  readonly id: number
  readonly request: ParseRequest
  readonly want: 'servers' | 'logs'
}

export type ToThread = Question | { readonly next: number }

export interface FromThread {
  readonly id: number
  /** With the first piece. */
  readonly head?: Head
  readonly items: readonly Item[]
  readonly isLast: boolean
}

const ITEMS_PER_MESSAGE = 250
const NAMES_PER_ITEM = 100

/** By main file. The thread ends when it is idle, so unused entries are not kept for ever. */
const files = new Map<string, ConfigFiles>()
const pending = new Map<number, Iterator<Item>>()

parentPort?.on('message', (message: ToThread) => {
  if ('next' in message) send(message.next)
  else begin(message)
})

function begin({ id, request, want }: Question): void {
  const known = files.get(request.config) ?? new ConfigFiles()
  files.set(request.config, known)
  const { servers, maps, foreign, own, ...head } = parseConfiguration(request, known)
  const wanted = want === 'servers' ? { servers, maps } : { servers: [], maps: new Map<string, MapText>() }
  pending.set(id, itemsOf({ ...wanted, foreign, own }))
  send(id, { ...head, maps: new Map([...wanted.maps].map(([variable, map]) => [variable, { ...map, entries: [] }])) })
}

function send(id: number, head?: Head): void {
  const rest = pending.get(id)
  const items: Item[] = []
  let isLast = rest === undefined
  while (rest && items.length < ITEMS_PER_MESSAGE) {
    const { value, done } = rest.next()
    if (done) {
      isLast = true
      break
    }
    items.push(value)
  }
  if (isLast) pending.delete(id)
  parentPort?.postMessage({ id, ...(head && { head }), items, isLast } satisfies FromThread)
}

function* itemsOf({
  servers,
  maps,
  foreign,
  own,
}: Pick<Parsed, 'servers' | 'maps' | 'foreign' | 'own'>): Generator<Item> {
  for (const server of servers) {
    const { names } = server
    yield ['server', names.length > NAMES_PER_ITEM ? { ...server, names: names.slice(0, NAMES_PER_ITEM) } : server]
    for (let at = NAMES_PER_ITEM; at < names.length; at += NAMES_PER_ITEM)
      yield ['names', names.slice(at, at + NAMES_PER_ITEM)]
  }
  for (const [path, stamp] of foreign) yield ['foreign', path, stamp]
  for (const [path, seen] of own) yield ['own', path, seen]
  for (const [variable, { entries }] of maps) for (const [key, value] of entries) yield ['entry', variable, key, value]
}
