import { fc } from '../../fast-check.ts'

/** Servers on one port, each with an id, and requests to them. */
export interface ServerSet {
  readonly servers: readonly ServerSpec[]
  readonly questions: readonly Question[]
}

interface ServerSpec {
  readonly names: readonly string[]
  /** Indexes of addresses; 0 is all of them. */
  readonly listen: readonly number[]
}

export interface Question {
  readonly host: string
  /** Index of an address; never 0. */
  readonly address: number
}

/** No server names the last address. */
const ADDRESSES = [1, 2, 3]

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
  '~\\Aexample',
  '~7\\z',
  '~.',
]

export const serverSet: fc.Arbitrary<ServerSet> = fc
  .uniqueArray(fc.constantFrom(...LABELS), { minLength: 2, maxLength: 3 })
  .chain((labels) => {
    const label = fc.constantFrom(...labels)
    return fc.record({
      servers: fc.array(server(label), { minLength: 1, maxLength: 8 }),
      questions: fc.array(fc.record({ host: host(label), address: fc.constantFrom(...ADDRESSES) }), {
        minLength: 10,
        maxLength: 10,
      }),
    })
  })

function server(label: fc.Arbitrary<string>): fc.Arbitrary<ServerSpec> {
  const name = dotted(label, 3)
  const serverName = fc.oneof(
    { weight: 5, arbitrary: spelled(name) },
    { weight: 3, arbitrary: spelled(name.map((text) => `*.${text}`)) },
    { weight: 2, arbitrary: spelled(name.map((text) => `.${text}`)) },
    { weight: 3, arbitrary: spelled(name.map((text) => `${text}.*`)) },
    { weight: 1, arbitrary: fc.constantFrom(...PATTERNS) },
    { weight: 1, arbitrary: name.map((text) => `~^${text.replaceAll('.', '\\.')}$`) },
    { weight: 1, arbitrary: fc.constantFrom('""', '_', 'test.', '10.0.0.1', '*.10.0.0.1', '"a.test"') },
  )
  return fc.record({
    names: fc.array(serverName, { maxLength: 4 }),
    listen: fc.uniqueArray(fc.constantFrom(0, 0, 1, 2), { minLength: 1, maxLength: 3 }),
  })
}

/** The spellings that a visitor may use. */
const host = (label: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(spelled(dotted(label, 4)), fc.constantFrom('', '', '', '.', ':80', '.:8080'))
    .map(([name, end]) => name + end)

const dotted = (label: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(label, { minLength: 1, maxLength }).map((labels) => labels.join('.'))

const spelled = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.integer({ min: 0, max: 5 })).map(([plain, dice]) => (dice === 0 ? plain.toUpperCase() : plain))

/**
 * The set as nginx configuration, one server per line. Each server answers with its line number. Any server of an address can be
 * its default server.
 */
export function renderSet(
  { servers }: ServerSet,
  port: number,
  addresses: readonly string[],
  defaults: number,
): string {
  const chosen = new Map<number, number>()
  for (const address of [0, 1, 2]) {
    const sharing = servers.flatMap(({ listen }, index) => (listen.includes(address) ? [index] : []))
    const pick = sharing[(defaults + address) % (sharing.length + 1)]
    if (pick !== undefined) chosen.set(address, pick)
  }
  return servers
    .map(({ names, listen }, index) => {
      const places = listen.map(
        (address) => `listen ${addresses[address]}:${port}${chosen.get(address) === index ? ' default_server' : ''};`,
      )
      const named = names.length > 0 ? `server_name ${names.join(' ')};` : ''
      return `server { ${places.join(' ')} ${named} return 200 ${index}; }`
    })
    .join('\n')
}
