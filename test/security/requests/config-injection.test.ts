import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** Text that means something to nginx, a shell or a zone file never gets further than the grammar. */
let site: Site
let planId: string
let before: ReturnType<typeof stored>

beforeAll(async () => {
  site = await startSite({ sockets: false })
  planId = await site.planId()
  before = stored(site.api)
})

afterAll(() => site.stop())

const characters: [string, string][] = [
  ['a newline', '\n'],
  ['a carriage return', '\r'],
  ['a tab', '\t'],
  ['a space', ' '],
  ['NUL', '\0'],
  ['DEL', '\x7f'],
  ['a semicolon', ';'],
  ['an opening brace', '{'],
  ['a closing brace', '}'],
  ['a dollar sign', '$'],
  ['a double quote', '"'],
  ['a single quote', "'"],
  ['a hash', '#'],
  ['a backtick', '`'],
  ['a backslash', '\\'],
  ['a pipe', '|'],
  ['an angle bracket', '<'],
  ['a caret', '^'],
  ['an umlaut', 'ü'],
  ['a line separator', '\u2028'],
  ['a lone surrogate', '\ud800'],
]

const samples: Record<string, (character: string) => string[]> = {
  zone: (c) => [`lab.test${c}`, `${c}lab.test`, `lab${c}.test`, `lab.test.${c}`],
  subdomain: (c) => [`hello${c}`, `${c}hello`, `hel${c}lo`, c],
  server: (c) => [`25${c}`, `${c}25`, c],
  health: (c) => [`/health${c}`, `/${c}/health`, `/health?a=${c}`],
}

/** The contract's grammar of a path lets these two through, and only there. */
const allowedInHealth = [';', '$']

describe.each(Object.keys(samples))('%s', (field) => {
  const hostile = characters.filter(([, character]) => field !== 'health' || !allowedInHealth.includes(character))

  test.each(hostile)('with %s is refused by its grammar', async (_name, character) => {
    for (const value of samples[field]?.(character) ?? []) {
      const { status, body } = await site.plan({ [field]: value })
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.errors).toMatchObject([{ field }])
    }
    expect(stored(site.api)).toEqual(before)
  })
})

describe('nginx text', () => {
  const injections = [
    'x; } server { listen 80 default_server; location / { root /; } } #',
    'x;\nalias /etc/;',
    '$(touch /tmp/x)',
    '`id`',
    '../../etc/nginx/nginx.conf',
    '..%2f..%2fetc',
    '%0a',
    '%00',
  ]

  test.each(injections)('%j is refused in zone, subdomain and server', async (text) => {
    for (const field of ['zone', 'subdomain', 'server']) {
      const { status, body } = await site.plan({ [field]: text })
      expect([status, body.errors?.[0]?.field]).toEqual([400, field])
    }
    expect(stored(site.api)).toEqual(before)
  })

  test.each(['//evil.test/', 'health', '', 'http://evil.test/', '*', '/a b', `/${'a'.repeat(1_024)}`])(
    'health %j is refused',
    async (health) => {
      const { status, body } = await site.plan({ health })
      expect([status, body.errors?.[0]?.field]).toEqual([400, 'health'])
    },
  )

  test('a path with a semicolon and a dollar sign is a path, and reaches the backend as it is', async () => {
    const health = "/a;b$c/%7B!&()*+,-.:=?@[]_~'".replace("'", '')
    const { status, body } = await site.plan({ health })
    expect([status, body.request?.health]).toEqual([201, health])
    expect(site.backend.request()).toMatch(`GET ${health} HTTP/1.1\r\n`)
  })
})

describe('the token request', () => {
  test.each(characters)('a plan id with %s is not found', async (_name, character) => {
    for (const id of [`${planId}${character}`, `${character}${planId}`, character]) {
      const { status, body } = await site.token({ planId: id })
      expect([status, body.code]).toEqual([404, 'plan_not_found'])
    }
  })

  test('a plan id of any length is not found', async () => {
    for (const id of ['', 'plan_', 'x'.repeat(129), 'x'.repeat(16_000)]) {
      const { status, body } = await site.token({ planId: id })
      expect([status, body.code]).toEqual([404, 'plan_not_found'])
    }
  })

  test.each(characters)('an action with %s is refused', async (_name, character) => {
    for (const action of [`apply${character}`, `${character}remove`, character]) {
      const { status, body } = await site.token({ planId, action })
      expect([status, body.errors]).toMatchObject([400, [{ field: 'action' }]])
    }
  })

  test('nothing of this issued a capability', () => {
    expect(stored(site.api).capabilities).toBe(0)
  })
})
