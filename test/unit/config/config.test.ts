import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { configOf as read, secretFile } from '../../support/config.ts'

const MINIMAL = 'zones: { example.test: { primary: 192.168.45.253 } }\n'

function faultsOf(text: string): string[] {
  try {
    read(text)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

describe('defaults', () => {
  test("are the specification's", () => {
    const config = read(MINIMAL)
    expect(config.internalNetworks).toEqual(['192.168.45.0/24'])
    expect(config.servers.targets).toEqual(['23', '25', '253'])
    expect(config.servers).toMatchObject({ primary: '23', secondary: '73' })
    expect(config.servers.addresses['25']).toBe('192.168.45.25')
    expect(config).toMatchObject({ flow: 'capability', adminToken: 'off', trustedProxies: [] })
    expect(config.zones.get('example.test')).toMatchObject({ primary: { address: '192.168.45.253', port: 53 } })
    expect(config.ports.allowed.join()).toBe('80,80,443,443,1024,65535')
  })

  test('the example file says the same and leaves no setting out', () => {
    const text = readFileSync('drawbridge.example.yaml', 'utf8')
    const { zones: _, ...example } = read(text)
    const { zones: __, ...defaults } = read(MINIMAL)
    expect(example).toEqual(defaults)
    const everyMapping = `${text.replaceAll(/^( *)(\w+|"\w+"|[\w.]+):$(?!\n *-)/gm, '$1$2:\n$1  bogus: 1')}\nbogus: 1\n`
    const allowed = faultsOf(everyMapping).flatMap(
      (fault) => fault.split('Allowed here: ')[1]?.replace(/\.$/, '').split(', ') ?? [],
    )
    expect(allowed.length).toBeGreaterThan(25)
    for (const key of allowed) expect(text, key).toMatch(new RegExp(`(^|[\\s"{#])${key}"?:`, 'm'))
  })

  test('secondary may be none, and empty lists stay empty', () => {
    const config = read(`${MINIMAL}servers: { secondary: none }\ninternalNetworks: []\nports: { allowed: [] }\n`)
    expect(config.servers.secondary).toBeUndefined()
    expect(config.internalNetworks).toEqual([])
    expect(config.ports.allowed).toEqual([])
  })
})

describe('a wrong setting names file, line, field and what is allowed', () => {
  test.each([
    ['flow: open', 2, 'flow', 'capability or legacy'],
    ['listen:\n  port: 70000', 3, 'listen.port', '1 to 65535'],
    ['internalNetworks:\n  - 192.168.45.0/24\n  - 192.168.045.7', 4, 'internalNetworks[1]', 'networks such as'],
    ['trustedProxies: [10.0.0.0/8]', 2, 'trustedProxies[0]', 'single IP addresses'],
    ['publicUrls: [https://a.test/path]', 2, 'publicUrls[0]', 'without a path'],
    ['servers: { targets: ["99"] }', 2, 'servers.targets', '23, 25, 73, 253'],
    ['acme: { directory: http://ca.test }', 2, 'acme.directory', 'letsencrypt, letsencrypt-staging'],
    ['acme: { challenge: tls-alpn-01 }', 2, 'acme.challenge', 'dns-01 or http-01'],
    ['acme: { contact: [a@b.test, "a@b.test?cc=c"] }', 2, 'acme.contact[1]', 'e-mail addresses'],
    ['monitor: { everySeconds: 0 }', 2, 'monitor.everySeconds', '1 to 3600'],
    ['monitor: { timeoutSeconds: 61 }', 2, 'monitor.timeoutSeconds', '1 to 60'],
    ['monitor: { atOnce: many }', 2, 'monitor.atOnce', '1 to 1000'],
    ['store: mysql', 2, 'store', 'postgres://'],
    ['flwo: legacy', 2, 'flwo', 'Allowed here: '],
    ['listen: { tls: { keyFile: k.pem } }', 2, 'listen.tls.certificateFile', 'PEM'],
    ['adminTokenFile: nowhere', 2, 'adminTokenFile', 'ENOENT'],
  ])('%s', (setting, line, field, allowed) => {
    const [fault, ...more] = faultsOf(MINIMAL + setting)
    expect(more).toEqual([])
    expect(fault).toContain(`drawbridge.yaml:${line}: ${field} `)
    expect(fault).toContain(allowed)
  })

  test.each([
    ['publish: {}', 'either addresses'],
    ['publish: { a: [192.0.2.1], cname: edge.test }', 'either addresses'],
    ['publish: { a: ["2001:db8::1"] }', 'IPv4'],
    ['publish: { aaaa: [192.0.2.1] }', 'IPv6'],
  ])('zone %s', (publish, allowed) =>
    expect(faultsOf(`zones: { example.test: { primary: 192.0.2.9, ${publish} } }`).join()).toContain(allowed),
  )

  test('all at once', () => expect(faultsOf('flow: open\nport: 1\n')).toHaveLength(3))

  test('a missing DNS server and a file that is not YAML', () => {
    expect(faultsOf('zones: { example.test: {} }')[0]).toContain('zones.example.test.primary is missing')
    expect(faultsOf('zones: [')[0]).toContain(':1: The file is not valid YAML')
    expect(faultsOf('- a\n')[0]).toContain('is not valid')
  })
})

describe('secrets', () => {
  test('come from a file or the environment and show themselves nowhere', () => {
    const config = read(`${MINIMAL}adminTokenFile: ${secretFile('canary-token\n')}\n`)
    expect(config.adminTokenValue?.reveal()).toBe('canary-token')
    expect(JSON.stringify({ ...config, zones: [] })).not.toContain('canary')
    expect(`${config.adminTokenValue}`).not.toContain('canary')
    expect(read(MINIMAL, { DRAWBRIDGE_ADMIN_TOKEN: 'from-env' }).adminTokenValue?.reveal()).toBe('from-env')
    expect(read(MINIMAL, { DRAWBRIDGE_STORE: 'postgres://u:p@h/d' }).store.kind).toBe('postgres')
  })

  test('an empty token is no token', () =>
    expect(read(MINIMAL, { DRAWBRIDGE_ADMIN_TOKEN: '' }).adminTokenValue).toBeUndefined())

  test('a file that others may read is refused', () =>
    expect(faultsOf(`${MINIMAL}adminTokenFile: ${secretFile('canary', 0o644)}`)[0]).toContain('chmod 0600'))
})
