import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Daemon } from '../../../lab/daemon.ts'
import { freePort } from '../../../lab/free-port.ts'
import { apiCertificateFile, startPebble } from '../../../lab/pebble.ts'
import { acmeDirectory } from '../../../src/certificates/acme/directory.ts'
import type { AcmeDirectory } from '../../../src/certificates/contract.ts'
import { certificateInventory } from '../../../src/certificates/stock/inventory.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { type CertificateSources, checkCertificate } from '../../../src/observe/certificate-check.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { reply, startLiar } from '../../support/dns/dns-liar.ts'
import { type Resolver, startResolver } from '../../support/dns/resolver.ts'
import { startZoneServer, type ZoneServer } from '../../support/dns/zone-server.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const ZONES = [
  {
    name: 'open.test',
    records: [
      'inner CAA 0 issue "other.test"',
      'ours CAA 0 issue "ca.lab.test; policy=ev"',
      'alias CNAME step',
      'step CNAME inner',
      'friend CNAME ours',
      'bare CNAME nothing',
      'round CNAME about',
      'about CNAME round',
      ...Array.from({ length: 10 }, (_, i) => `hop${i} CNAME hop${i + 1}`),
      'away CNAME edge.elsewhere.test.',
      'cut NS ns.elsewhere.test.',
    ],
  },
  { name: 'split.test', records: ['@ CAA 0 issue "ca.lab.test"', '@ CAA 0 issuewild "other.test"'] },
  { name: 'wildonly.test', records: ['@ CAA 0 issuewild "ca.lab.test"', '@ CAA 0 issue ";"'] },
  { name: 'ours.test', records: ['@ CAA 0 issue "CA.lab.test"', 'strict CAA 0 issue ";"'] },
  { name: 'others.test', records: ['@ CAA 0 issue "other.test"', 'ours CAA 0 issue "ca.lab.test"'] },
  { name: 'nobody.test', records: ['@ CAA 0 issue ";"'] },
  { name: 'strange.test', records: ['@ CAA 128 future "x"'] },
  { name: 'wild.test', records: ['* CAA 0 issue ";"', 'own CAA 0 issue ";"'] },
  { name: 'wild-alias.test', records: ['* CNAME strict', 'strict CAA 0 issue ";"'] },
]
const IDENTITIES = ['ca.lab.test']

const folder = tempFolder()
let server: ZoneServer
let pebble: Daemon
let directory: AcmeDirectory
beforeAll(async () => {
  const endpoint = async () => ({ address: '127.0.0.1', port: await freePort() })
  const [api, management] = [await endpoint(), await endpoint()]
  server = await startZoneServer(ZONES)
  pebble = await startPebble({
    folder: folder.path,
    api,
    management,
    dns: server,
    rootsFile: join(folder.path, 'ca.pem'),
  })
  directory = acmeDirectory({
    clock: systemClock,
    url: `https://127.0.0.1:${api.port}/dir`,
    caFile: apiCertificateFile(folder.path),
  })
})
afterAll(async () => {
  await pebble?.stop()
  await server?.stop()
  folder[Symbol.dispose]()
})

const check = (host: string, zone: string, more: Partial<CertificateSources> = {}) =>
  checkCertificate(
    {
      reader: dnsReader(server),
      clock: systemClock,
      inventory: certificateInventory([]),
      directory,
      budget: { check: async () => ({ kind: 'free', failures: 0, limits: [] }) },
      aliasIn: () => undefined,
      caaIdentities: IDENTITIES,
      challenge: 'dns-01',
      certificateNames: (_zone, name) => [name],
      ...more,
    },
    zone,
    host,
  )

const issuable = (caa: string | RegExp) => ({
  kind: 'issuable',
  directory: directory.url,
  names: expect.any(Array),
  budget: { failures: 0, limits: [] },
  caa: expect.stringMatching(caa),
})
const unavailable = (reason: string, sentence: string | RegExp) => ({
  kind: 'unavailable',
  reason,
  sentence: expect.stringMatching(sentence),
})
const forbidden = (record: string, sentence: string | RegExp) => {
  const [name, tag, ...value] = record.split(' ')
  return { ...unavailable('caa_forbids', sentence), record: { name, tag, value: value.join(' ') } }
}

test('what Pebble says of itself: a directory without CAA identities', async () => {
  expect(await directory.read()).toEqual({ kind: 'available', caaIdentities: [] })
})

describe('CAA inside the zone, asked of its own server', () => {
  test('none at all leaves the CA free, and says that nobody looked above the zone', async () => {
    expect(await check('app.open.test', 'open.test')).toEqual(
      issuable(/^no CAA record restricts it \(names above open\.test were not checked/),
    )
  })

  test('a record of the zone that names the CA allows it', async () => {
    expect(await check('app.ours.test', 'ours.test')).toEqual(
      issuable('the CAA records of ours.test allow ca.lab.test'),
    )
  })

  test.each([
    [
      'app.others.test',
      'others.test',
      'others.test issue other.test',
      /records of others\.test allow only other certificate authorities: issue "other\.test"; our certificate authority is ca\.lab\.test/,
    ],
    ['app.nobody.test', 'nobody.test', 'nobody.test issue ;', /records of nobody\.test allow no certificate authority/],
    [
      'app.strange.test',
      'strange.test',
      'strange.test future x',
      /records of strange\.test have the unknown critical property future "x"/,
    ],
    [
      'strict.ours.test',
      'ours.test',
      'strict.ours.test issue ;',
      /records of strict\.ours\.test allow no certificate authority/,
    ],
    [
      'own.wild.test',
      'wild.test',
      'own.wild.test issue ;',
      /records of own\.wild\.test allow no certificate authority/,
    ],
    [
      'app.inner.open.test',
      'open.test',
      'inner.open.test issue other.test',
      /records of inner\.open\.test allow only other certificate authorities/,
    ],
    [
      'alias.open.test',
      'open.test',
      'inner.open.test issue other.test',
      /records of inner\.open\.test allow only other certificate authorities/,
    ],
  ])('%s in %s is forbidden, and by which record', async (host, zone, record, sentence) => {
    expect(await check(host, zone)).toEqual(forbidden(record, sentence))
  })

  test('an alias is followed, and where it leads to nothing its own parents are asked', async () => {
    expect(await check('friend.open.test', 'open.test')).toEqual(issuable(/records of ours\.open\.test allow/))
    expect(await check('bare.open.test', 'open.test')).toEqual(issuable(/^no CAA record restricts it/))
  })

  test('what the host will be an alias of counts as if it were one already', async () => {
    const published = { aliasIn: () => 'inner.open.test' }
    const sentence = /records of inner\.open\.test allow only other certificate authorities/
    const record = 'inner.open.test issue other.test'
    expect(await check('app.open.test', 'open.test', published)).toEqual(forbidden(record, sentence))
    const beyond = { aliasIn: () => 'edge.elsewhere.test' }
    expect(await check('app.open.test', 'open.test', beyond)).toEqual(issuable(/^no CAA record restricts it/))
  })

  test('of a wildcard issuewild decides where there is one, of every other name only issue', async () => {
    const wild = { certificateNames: (zone: string) => [`*.${zone}`] }
    const both = { certificateNames: (zone: string) => [zone, `*.${zone}`] }
    const split = 'split.test issuewild other.test'
    expect(await check('app.split.test', 'split.test')).toEqual(issuable(/allow ca\.lab\.test$/))
    expect(await check('app.split.test', 'split.test', wild)).toEqual(
      forbidden(split, /allow only other certificate authorities/),
    )
    expect(await check('app.split.test', 'split.test', both)).toEqual(
      forbidden(split, /allow only other certificate authorities/),
    )
    expect(await check('app.wildonly.test', 'wildonly.test', wild)).toEqual(issuable(/allow ca\.lab\.test$/))
    const nobody = 'wildonly.test issue ;'
    expect(await check('app.wildonly.test', 'wildonly.test')).toEqual(
      forbidden(nobody, /allow no certificate authority/),
    )
    expect(await check('app.wildonly.test', 'wildonly.test', both)).toEqual(
      forbidden(nobody, /allow no certificate authority/),
    )
    expect(await check('app.nobody.test', 'nobody.test', wild)).toEqual(
      forbidden('nobody.test issue ;', /records of nobody\.test allow no certificate authority/),
    )
    expect(await check('app.ours.test', 'ours.test', wild)).toMatchObject({ kind: 'issuable', names: ['*.ours.test'] })
  })

  test('the nearest record decides, not the zone', async () => {
    expect(await check('ours.others.test', 'others.test')).toEqual(
      issuable(/^the CAA records of ours\.others\.test allow/),
    )
  })

  test.each([
    ['app.wild.test', 'wild.test'],
    ['app.deeper.wild.test', 'wild.test'],
    ['app.wild-alias.test', 'wild-alias.test'],
  ])('a wildcard does not count for %s: it will exist when the CA looks', async (host, zone) => {
    expect(await check(host, zone)).toEqual(issuable(/^no CAA record restricts it/))
  })

  test.each([
    ['away.open.test', 'open.test', /away\.open\.test is an alias of edge\.elsewhere\.test, which is not in/],
    ['hop0.open.test', 'open.test', /hop0\.open\.test has a chain of more than 8 aliases/],
    ['round.open.test', 'open.test', /answered SERVFAIL to round\.open\.test CAA/],
    ['app.cut.open.test', 'open.test', /is in another zone that starts at cut\.open\.test/],
    ['app.absent.test', 'absent.test', /answered REFUSED to app\.absent\.test CAA/],
  ])('what is not certain for %s is not a yes', async (host, zone, sentence) => {
    expect(await check(host, zone)).toEqual(unavailable('caa_unknown', sentence))
  })

  test('silence is not a yes', async () => {
    const nobody = dnsReader({ address: '127.0.0.1', port: await freePort() })
    expect(await check('app.ours.test', 'ours.test', { reader: nobody })).toEqual(
      unavailable('caa_unknown', /could not be reached/),
    )
  })

  test('without a name of the CA, records that name others decide nothing', async () => {
    expect(await check('app.ours.test', 'ours.test', { caaIdentities: [] })).toEqual(
      unavailable('caa_unknown', /neither the directory nor acme\.caaIdentities names our certificate authority/),
    )
  })

  test('what the directory says of the CA goes before the configuration', async () => {
    const saying: AcmeDirectory = {
      ...directory,
      read: async () => ({ kind: 'available', caaIdentities: ['other.test'] }),
    }
    expect(await check('app.others.test', 'others.test', { directory: saying })).toEqual(issuable(/allow other\.test$/))
    expect(await check('app.ours.test', 'ours.test', { directory: saying })).toEqual(
      forbidden('ours.test issue CA.lab.test', /our certificate authority is other\.test/),
    )
  })
})

describe('CAA above the zone, asked of the resolver', () => {
  const withResolver = async (records: string[], use: (resolver: Resolver) => Promise<void>) => {
    const resolver = await startResolver(records)
    try {
      await use(resolver)
    } finally {
      await resolver.stop()
    }
  }

  test('forbids where the zone itself says nothing, and only there', async () => {
    await withResolver(['@ CAA 0 issue "other.test"'], async (server) => {
      const resolver = dnsReader(server, { recursive: true })
      expect(await check('app.open.test', 'open.test', { resolver })).toEqual(
        forbidden('test issue other.test', /records of test allow only other certificate authorities/),
      )
      expect(await check('app.ours.test', 'ours.test', { resolver })).toEqual(issuable(/records of ours\.test allow/))
    })
  })

  test('is asked where an alias leads out of the zone', async () => {
    const records = ['edge.elsewhere CNAME far.elsewhere', 'far.elsewhere CAA 0 issue "other.test"']
    await withResolver(records, async (server) => {
      const resolver = dnsReader(server, { recursive: true })
      const refusal = forbidden('edge.elsewhere.test issue other.test', /allow only other certificate authorities/)
      expect(await check('away.open.test', 'open.test', { resolver })).toEqual(refusal)
      const aliasIn = () => 'edge.elsewhere.test'
      expect(await check('app.open.test', 'open.test', { resolver, aliasIn })).toEqual(refusal)
    })
  })

  test('says nothing, and then the whole way was looked at', async () => {
    await withResolver([], async (server) => {
      const resolver = dnsReader(server, { recursive: true })
      expect(await check('app.open.test', 'open.test', { resolver })).toEqual(issuable(/^no CAA record restricts it$/))
    })
  })

  test('is unknown when the resolver does not resolve', async () => {
    const resolver = dnsReader(server, { recursive: true })
    expect(await check('app.open.test', 'open.test', { resolver })).toEqual(
      unavailable('caa_unknown', /to test CAA and did not resolve it/),
    )
    await using referring = await startLiar(({ query }) => [reply(query, 0x8000)])
    const notResolving = dnsReader(referring, { recursive: true })
    expect(await check('app.open.test', 'open.test', { resolver: notResolving })).toEqual(
      unavailable('caa_unknown', /answered NOERROR to test CAA and did not resolve it/),
    )
    const nobody = dnsReader({ address: '127.0.0.1', port: await freePort() }, { recursive: true })
    expect(await check('app.open.test', 'open.test', { resolver: nobody })).toEqual(
      unavailable('caa_unknown', /could not be reached/),
    )
  })
})

describe('the budget', () => {
  const spent = async () =>
    ({
      kind: 'refused',
      reason: 'paused',
      because: 'the authority asked for no requests for a while',
      retryAfter: 77,
    }) as const

  test('refuses before anything is asked, and tells when to come again', async () => {
    const nowhere = acmeDirectory({ clock: systemClock, url: `https://127.0.0.1:${await freePort()}/dir` })
    const more = { directory: nowhere, budget: { check: spent } }
    expect(await check('app.ours.test', 'ours.test', more)).toEqual({
      ...unavailable(
        'budget',
        /^No certificate can be ordered from 127\.0\.0\.1:\d+ now: the authority asked for no requests for a while\.$/,
      ),
      retryAfter: 77,
    })
  })

  test('shows what it leaves', async () => {
    const limits = [
      { limit: 'certificatesPerDomain', subject: 'ours.test', left: 49, count: 50, perSeconds: 604_800 } as const,
    ]
    const free = async () => ({ kind: 'free', failures: 2, limits }) as const
    expect(await check('app.ours.test', 'ours.test', { budget: { check: free } })).toMatchObject({
      kind: 'issuable',
      budget: { failures: 2, limits },
    })
  })
})

describe('an installed certificate', () => {
  test('goes before everything: neither CAA nor the CA is asked', async () => {
    using installed = tempFolder()
    const at = (file: string) => join(installed.path, file)
    await makeCertificate({ certificate: at('wild.pem'), key: at('wild.key'), names: ['DNS:*.nobody.test'], days: 30 })
    const refuse = async () => Promise.reject(new Error('nothing is to be ordered'))
    const more = { inventory: certificateInventory([installed.path]), budget: { check: refuse } }
    const fact = await check('app.nobody.test', 'nobody.test', more)
    expect(fact).toEqual({
      kind: 'installed',
      names: ['*.nobody.test'],
      wildcard: true,
      notAfter: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      fingerprint: expect.stringMatching(/^[0-9A-F:]{95}$/),
    })
  })
})

describe('the directory of the CA', () => {
  test('must answer', async () => {
    const nowhere = acmeDirectory({ clock: systemClock, url: `https://127.0.0.1:${await freePort()}/dir` })
    expect(await check('app.ours.test', 'ours.test', { directory: nowhere })).toEqual(
      unavailable('directory_unavailable', /request failed \(ECONNREFUSED\)/),
    )
  })

  test('must be configured', async () => {
    expect(await check('app.ours.test', 'ours.test', { directory: undefined })).toEqual(
      unavailable('directory_unavailable', 'No certificate authority is configured.'),
    )
  })

  test('must be trusted', async () => {
    const untrusted = acmeDirectory({ clock: systemClock, url: directory.url })
    expect(await untrusted.read()).toEqual({ kind: 'unavailable', reason: expect.stringMatching(/SELF_SIGNED/) })
    const rootless = acmeDirectory({ clock: systemClock, url: directory.url, caFile: join(folder.path, 'missing.pem') })
    expect(await rootless.read()).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('trusted roots'),
    })
  })
})
