import { hostname } from 'node:os'
import { fc } from '../../fast-check.ts'

/** Servers on two neighbouring ports, each with an id, and requests to them. */
export interface ServerSet {
  readonly servers: readonly ServerSpec[]
  readonly questions: readonly Question[]
  /** Its sockets accept IPv4 and IPv6. nginx cannot bind others beside them. */
  readonly isDual: boolean
  /** Decides what depends on all servers: defaults, options, files. */
  readonly dice: number
}

interface ServerSpec {
  readonly names: readonly string[]
  readonly listen: readonly ListenSpec[]
  /** Its names stand in a file of their own. */
  readonly isIncluding: boolean
}

interface ListenSpec {
  /** Index of ADDRESSES. */
  readonly address: number
  readonly ports: 'first' | 'second' | 'both'
  readonly isTls: boolean
}

export interface Question {
  /** Empty: a request without a `Host`. */
  readonly host: string
  readonly sni: string
  /** Index of ADDRESSES; never one of all addresses. */
  readonly address: number
  readonly isSecond: boolean
  readonly isTls: boolean
}

/** The network of the test follows `@`. No server names the address that ends with 3. */
const ADDRESSES = ['*', '@.1', '@.2', '@.3', '[::]', '[::1]'] as const
const [ALL, ONE, TWO, UNNAMED, ALL_6, ONE_6] = [0, 1, 2, 3, 4, 5] as const

/** A set uses few names, so that they collide. */
const LABELS = ['a', 'b', 'www', 'test', 'example', 'xn--bcher-kva', 'app-1', '7']

const PATTERNS = [
  '~^(www\\.)?a\\.test$',
  '~^(?<sub>.+)\\.example\\.test$',
  '~^(?P<sub>[^.]+)\\.(a|b)\\.',
  '~\\.test$',
  '~^A\\.',
  '~^\\d+\\.test',
  '~WWW',
  '~^[[:alpha:]]+\\.example$',
  '~^(?i)App-\\d\\.',
  '"~^[a-z]{1,4}\\.[a-z]{4}$"',
  "'~^(?:[a-z]+\\\\.){2}b$'",
  '~^xn--[a-z0-9-]+\\.',
  '~^(?!www\\.)[a-z.]+$',
  '~\\Aexample',
  '~7\\z',
  '~.',
]

/** `hasIpv6`: whether this machine has the address `::1`. */
export const serverSets = (hasIpv6: boolean, questions: number): fc.Arbitrary<ServerSet> =>
  fc.uniqueArray(fc.constantFrom(...LABELS), { minLength: 2, maxLength: 3 }).chain((labels) => {
    const label = fc.constantFrom(...labels)
    const sixth = hasIpv6 ? [ALL_6, ONE_6] : []
    return fc.record({
      servers: fc.array(server(label, sixth), { minLength: 1, maxLength: 8 }),
      questions: fc.array(
        fc.record({
          host: host(label),
          sni: dotted(label, 4),
          address: fc.constantFrom(ONE, TWO, UNNAMED, ...sixth.slice(1)),
          isSecond: fc.boolean(),
          isTls: fc.boolean(),
        }),
        { minLength: questions, maxLength: questions },
      ),
      isDual: hasIpv6 ? fc.integer({ min: 0, max: 5 }).map((dice) => dice === 0) : fc.constant(false),
      dice: fc.nat(),
    })
  })

function server(label: fc.Arbitrary<string>, sixth: readonly number[]): fc.Arbitrary<ServerSpec> {
  const name = dotted(label, 3)
  const serverName = fc.oneof(
    { weight: 5, arbitrary: spelled(name) },
    { weight: 3, arbitrary: spelled(name.map((text) => `*.${text}`)) },
    { weight: 2, arbitrary: spelled(name.map((text) => `.${text}`)) },
    { weight: 3, arbitrary: spelled(name.map((text) => `${text}.*`)) },
    { weight: 1, arbitrary: fc.constantFrom(...PATTERNS) },
    { weight: 1, arbitrary: name.map((text) => `~^${text.replaceAll('.', '\\.')}$`) },
    { weight: 1, arbitrary: fc.constantFrom('""', '_', 'test.', '10.0.0.1', '*.10.0.0.1', '"a.test"', '$hostname') },
  )
  const place = fc.record({
    address: fc.constantFrom(ALL, ALL, ONE, TWO, ...sixth),
    ports: fc.constantFrom<ListenSpec['ports']>('first', 'first', 'second', 'both'),
    isTls: fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0),
  })
  return fc.record({
    names: fc.array(serverName, { maxLength: 4 }),
    listen: fc.uniqueArray(place, { minLength: 1, maxLength: 3, selector: ({ address }) => address }),
    isIncluding: fc.boolean(),
  })
}

/** The spellings that a visitor may use. */
const host = (label: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 12, arbitrary: fc.tuple(spelled(dotted(label, 4)), fc.constantFrom('', '', '', '.', ':80', '.:8080')) },
      { weight: 1, arbitrary: fc.constantFrom(['', ''], ['10.0.0.1', ''], [hostname(), ''], ['a.10.0.0.1', '']) },
    )
    .map(([name, end]) => `${name}${end}`)

const dotted = (label: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(label, { minLength: 1, maxLength }).map((labels) => labels.join('.'))

const spelled = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.integer({ min: 0, max: 5 })).map(([plain, dice]) => (dice === 0 ? plain.toUpperCase() : plain))

export interface RenderedSet {
  /** By name; each server is one line. `snippet`: not a file of servers. */
  readonly files: Readonly<Record<string, string>>
  /** What the http block says. */
  readonly includes: string
  /** The ids of the servers by `file:line`. */
  readonly ids: ReadonlyMap<string, string>
}

/** The set as files. Each server answers with its index. Any server of an address and port can be its default server. */
export function renderSet(set: ServerSet, folder: string, port: number, network: string): RenderedSet {
  const { servers, dice } = set
  const options = optionsOf(set)
  const files: Record<string, string[]> = {}
  const ids = new Map<string, string>()
  for (const [index, { names, listen, isIncluding }] of servers.entries()) {
    const places = placesOf(set, listen).map((place) => {
      const address = ADDRESSES[place.address]?.replace('@', network) ?? ''
      const ports = { first: `${port}`, second: `${port + 1}`, both: `${port}-${port + 1}` }[place.ports]
      const written =
        address !== '*' ? `${address}:${ports}` : [ports, `*:${ports}`, `0.0.0.0:${ports}`][(dice + index) % 3]
      return `listen ${written}${options.get(place) ?? ''};`
    })
    const named = names.length > 0 ? `server_name ${names.join(' ')};` : ''
    if (isIncluding) files[`names-${index}`] = [named]
    const unix = (dice + index) % 7 === 0 ? `listen unix:${folder}/${port}-${index}.sock;` : ''
    const file = `${'cab'.charAt(Math.floor((index * (1 + (dice % 3))) / servers.length))}.conf`
    const lines = files[file] ?? []
    files[file] = lines
    lines.push(
      `server { ${places.join(' ')} ${unix} ${isIncluding ? `include ${folder}/names-${index};` : named} return 200 ${index}; }`,
    )
    ids.set(`${folder}/${file}:${lines.length}`, String(index))
  }
  const each = Object.keys(files).filter((file) => file.endsWith('.conf'))
  const includes = dice % 2 === 0 ? [`${folder}/*.conf`] : each.map((file) => `${folder}/${file}`)
  return {
    files: Object.fromEntries(Object.entries(files).map(([file, lines]) => [file, `${lines.join('\n')}\n`])),
    includes: includes.map((path) => `include ${path};`).join('\n'),
    ids,
  }
}

const IN_DUAL = new Map<number, number>([
  [ALL, ALL_6],
  [ONE, ONE_6],
  [TWO, ONE_6],
])

const dualPlaces = new WeakMap<readonly ListenSpec[], readonly ListenSpec[]>()

/** In a set with sockets for IPv4 and IPv6 there are no others. */
function placesOf({ isDual }: ServerSet, listen: readonly ListenSpec[]): readonly ListenSpec[] {
  if (!isDual) return listen
  const moved = listen.map((place) => ({ ...place, address: IN_DUAL.get(place.address) ?? place.address }))
  const unique = moved.filter(({ address }, i) => moved.findIndex((other) => other.address === address) === i)
  const known = dualPlaces.get(listen) ?? unique
  dualPlaces.set(listen, known)
  return known
}

/** nginx takes one default server and one list of options for each address and port. */
function optionsOf(set: ServerSet): Map<ListenSpec, string> {
  const all = set.servers.flatMap(({ listen }) => placesOf(set, listen))
  const options = new Map(all.map((place) => [place, place.isTls ? ' ssl' : '']))
  const taken = { default: new Set<string>(), options: new Set<string>() }
  const offset = set.dice % (all.length + 1)
  for (const place of [...all.slice(offset), ...all.slice(0, offset)]) {
    const keys = { first: [0], second: [1], both: [0, 1] }[place.ports].map((end) => `${place.address} ${end}`)
    const take = (kind: keyof typeof taken, text: string) => {
      if (keys.some((key) => taken[kind].has(key))) return
      for (const key of keys) taken[kind].add(key)
      options.set(place, `${options.get(place) ?? ''} ${text}`)
    }
    if ((set.dice + keys.length + place.address) % 3 !== 0) take('default', 'default_server')
    if (place.address === ALL_6) take('options', set.isDual ? 'ipv6only=off' : 'backlog=64')
    if (place.address === ALL && set.dice % 4 === 0) take('options', 'so_keepalive=on')
  }
  return options
}

/** Where a question is asked. */
export const addressOf = ({ address }: Question, network: string): string =>
  (ADDRESSES[address] ?? '').replace('@', network).replaceAll(/[[\]]/g, '')
