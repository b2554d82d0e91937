import fc from 'fast-check'

/** Servers that share a port, each with an id, and questions to them. */
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

/** Few, so that names meet. */
const LABELS = ['a', 'b', 'www', 'test', 'example', 'xn--bcher-kva', 'app-1', '7']
/** Of addresses of their own; the last is one that nobody names. */
const ADDRESSES = [1, 2, 3]

const label = fc.constantFrom(...LABELS)
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const spelled = (arbitrary: fc.Arbitrary<string>) =>
  fc.tuple(arbitrary, fc.integer({ min: 0, max: 5 })).map(([text, dice]) => (dice === 0 ? text.toUpperCase() : text))

const pattern = fc.oneof(
  fc.constantFrom(
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
  ),
  name.map((text) => `~^${text.replaceAll('.', '\\.')}$`),
)

const serverName = fc.oneof(
  { weight: 5, arbitrary: spelled(name) },
  { weight: 3, arbitrary: spelled(name.map((text) => `*.${text}`)) },
  { weight: 2, arbitrary: spelled(name.map((text) => `.${text}`)) },
  { weight: 3, arbitrary: spelled(name.map((text) => `${text}.*`)) },
  { weight: 2, arbitrary: pattern },
  { weight: 1, arbitrary: fc.constantFrom('""', '_', 'test.', '10.0.0.1', '*.10.0.0.1', '"a.test"') },
)

const server: fc.Arbitrary<ServerSpec> = fc.record({
  names: fc.array(serverName, { maxLength: 4 }),
  listen: fc.uniqueArray(fc.constantFrom(0, 0, 1, 2), { minLength: 1, maxLength: 3 }),
})

/** As a visitor may spell it. */
const host = fc
  .tuple(
    fc.array(label, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('', '', '', '.', ':80', '.:8080'),
    fc.boolean(),
  )
  .map(([labels, end, isLoud]) => (isLoud ? labels.join('.').toUpperCase() : labels.join('.')) + end)

export const serverSet: fc.Arbitrary<ServerSet> = fc.record({
  servers: fc.array(server, { minLength: 1, maxLength: 8 }),
  questions: fc.array(fc.record({ host, address: fc.constantFrom(...ADDRESSES) }), { minLength: 10, maxLength: 10 }),
})

/**
 * The set as text, one server a line, each of which answers with its number there. Any one of those that share an address
 * may be its chosen default.
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
