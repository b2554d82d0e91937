import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { startDaemon } from '../../../lab/daemon.ts'
import { freePort } from '../../../lab/free-port.ts'
import { initParts } from '../../../src/compose/machine/init.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { loadEdgeAgentConfig } from '../../../src/config/edge-agent.ts'
import { init } from '../../../src/operate/init/init.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { startBindHost } from '../../support/dns/bind.ts'
import { randomKey, type ZoneHost } from '../../support/dns/served-zone.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import {
  askPlainly,
  askSecurely,
  debianMain,
  debianSite,
  INCLUDE,
  type OwnNginx,
  type Sites,
  startOwnNginx,
} from '../../support/edge/own-nginx.ts'
import { sixtySites } from '../../support/edge/sites/sixty-sites.ts'
import { call } from '../../support/http/call.ts'
import { serving } from '../../support/instances/service-here.ts'
import { applied, removed } from '../../support/lab/exposure.ts'
import { command } from '../../support/programs/command.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { onTerminal } from '../../support/programs/pseudo-terminal.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

const ZONE = 'init.test'
/** A key that the administrator has already. */
const FORMER = randomKey('former')
let port: number
let bind: ZoneHost
let own: OwnNginx | undefined
let folder: TempFolder
beforeAll(async () => {
  port = await freePort()
  bind = await startBindHost({ zone: ZONE, key: FORMER, stranger: randomKey('stranger') }, port)
  folder = tempFolder()
})
afterAll(async () => {
  await bind?.stop()
  folder?.[Symbol.dispose]()
})
afterEach(async () => {
  await own?.stop()
  own = undefined
})

/** An nginx whose main file does not include Drawbridge yet. */
async function started(sites: Sites): Promise<OwnNginx> {
  own = await startOwnNginx((at) => ({ 'nginx.conf': debianMain(at.prefix, ''), ...sites(at) }))
  return own
}

const configOf = ({ prefix }: OwnNginx) => join(prefix, '..', 'etc', 'drawbridge.yaml')

/** The options that a server with nginx in its usual place does not need. */
const nginxOf = (at: OwnNginx): string[] => [
  ...['--config', configOf(at), '--nginx', at.binary, '--nginx-config', at.config, '--nginx-prefix', at.prefix],
  ...['--http-port', String(at.ports.http), '--https-port', String(at.ports.https)],
]

/** The first command of docs/first-contact.md, with the names and addresses of this test. */
function asWritten(at: OwnNginx): string[] {
  const [, line = ''] = /```sh\ndrawbridge (init .*)\n/.exec(readFileSync('docs/first-contact.md', 'utf8')) ?? []
  const here: Record<string, string> = {
    'example.com': ZONE,
    '192.168.45.253': `127.0.0.1:${port}`,
    '192.168.45.23': at.address,
    '192.168.45.0/24': '127.0.0.0/8',
  }
  return line.split(' ').map((word) => here[word] ?? word)
}

const argsFor = (at: OwnNginx, apiPort: number, ...more: string[]): string[] => [
  ...asWritten(at).filter((word) => word !== '--dry-run'),
  ...[...nginxOf(at), '--api-port', String(apiPort), '--state-dir', join(at.prefix, '..', 'state')],
  ...['--acme-directory', 'https://127.0.0.1:9/directory', ...more],
]

/** Everything of the administrator and of Drawbridge, without what nginx itself writes. */
const everything = ({ prefix }: OwnNginx) =>
  listing(join(prefix, '..')).filter((line) => !/(?:error|output)\.log |nginx\.pid |temp-/.test(line))

describe('on the nginx that Debian installs', () => {
  const stock: Sites = (at) => ({ 'sites-enabled/default': debianSite(at) })

  test('a dry run shows everything and writes nothing; then it is written, served and taken away; twice does no harm', async () => {
    const at = await started(stock)
    const before = everything(at)
    const dry = await command([...asWritten(at), ...nginxOf(at)])
    expect([dry.code, dry.stderr]).toEqual([0, ''])
    expect(dry.stdout).toContain(
      `  *:${at.ports.http}: 1, default server in ${at.path('sites-enabled/default')}, line 1.`,
    )
    expect(dry.stdout).toContain(`Drawbridge listens on *:${at.ports.http} beside the servers there.`)
    expect(dry.stdout).toContain(`Drawbridge listens on ${at.address}:${at.ports.https}, where nobody else listens`)
    expect(dry.stdout).toContain(`+\tinclude ${at.folder}/*.conf;`)
    expect(dry.stdout).toContain('The key is made when the files are written.')
    // A secret that nobody will use must not be pasted anywhere.
    expect(dry.stdout).not.toMatch(/[A-Za-z0-9+/]{43}=/)
    expect(dry.stdout).toContain('Dry run: nothing was written.')
    expect(everything(at)).toEqual(before)

    const main = readFileSync(at.config, 'utf8')
    const done = await drawbridge(argsFor(at, 8045, '--yes'))
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(done.stdout).toContain(`nginx served a test entry (drawbridge-rehearsal.${ZONE}) and took it away again.`)
    const etc = (name: string) => join(configOf(at), '..', name)
    expect(statSync(etc('tsig.key')).mode & 0o777).toBe(0o600)
    const secret = readFileSync(etc('tsig.key'), 'utf8').trim()
    for (const line of [
      `key "drawbridge." { algorithm hmac-sha256; secret "${secret}"; };`,
      `      secret: ${secret}`,
      `pdnsutil import-tsig-key drawbridge hmac-sha256 ${secret}`,
    ])
      expect(done.stdout).toContain(line)
    expect(readFileSync(etc('nginx.conf.before-drawbridge'), 'utf8')).toBe(main)
    expect(readFileSync(at.config, 'utf8')).toBe(main.replace(/\n}\n$/, `\n\tinclude ${at.folder}/*.conf;\n}\n`))
    const config = loadConfig(configOf(at), {})
    expect(config).toMatchObject({
      servers: { primary: '23' },
      edges: { '23': { config: at.config, listen: [at.address] } },
    })
    expect(await askPlainly({ address: at.address, port: at.ports.http }, 'unknown.test')).toBe(
      '200  Welcome to nginx!',
    )

    const after = everything(at)
    const again = await command(argsFor(at, 8045, '--yes'))
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toContain('Everything is there already. Nothing was changed.')
    expect(again.stdout).toMatch(/does not take updates of init\.test with the key drawbridge yet/)
    expect(again.stdout).toContain('key "drawbridge." { algorithm hmac-sha256; secret "SECRET"; };')
    expect(again.stdout).not.toContain(secret)
    expect(everything(at)).toEqual(after)
  })

  test('asks a person for what no option says, and stops at no', async () => {
    const at = await started(stock)
    const before = everything(at)
    const without = argsFor(at, 8045).filter((arg, index, all) => arg !== '--zone' && all[index - 1] !== '--zone')
    const rest = ['--target', 'none', '--acme-ca', 'none']
    const refused = await command(without)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('Not a terminal: pass --zone (a DNS zone'),
    ])
    const asked = await onTerminal(`${launcher()} ${[...without, ...rest].join(' ')} --dry-run`, { input: `${ZONE}\n` })
    expect(asked).toContain('The DNS zone in which names are exposed')
    expect(asked).toContain('Dry run: nothing was written.')
    const declined = await onTerminal(`${launcher()} ${argsFor(at, 8045, ...rest).join(' ')}`, { input: 'n\n' })
    expect(declined).toContain('Write these files and reload nginx?')
    expect(declined).toContain('Nothing was changed.')
    expect(everything(at)).toEqual(before)
  })

  test('with an agent: both configurations work together, with a key that was there before', async () => {
    const at = await started(stock)
    const etc = (name: string) => join(configOf(at), '..', name)
    mkdirSync(etc(''))
    writeFileSync(etc('tsig.key'), `${FORMER.secret}\n`, { mode: 0o600 })
    const apiPort = await freePort(at.address)
    await using backend = await startWebBackend(
      { description: { backends: [] } } as never,
      (_request, response) => void response.end('exposed\n'),
      '127.0.0.1',
    )
    const [ca, caKey] = [join(at.prefix, '..', 'ca.pem'), join(at.prefix, '..', 'ca.key')]
    await makeCertificate({ certificate: ca, key: caKey, names: ['DNS:authority.test'] })
    const args = argsFor(
      at,
      apiPort,
      '--agent',
      '--acme-ca',
      ca,
      '--tsig-name',
      'former',
      '--target',
      '25=127.0.0.1',
      '--yes',
    )
    const done = await command(args)
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(done.stdout).toContain('takes updates of init.test with the key former.')
    expect(done.stdout).not.toContain(FORMER.secret)
    expect(loadConfig(configOf(at), {}).acme.caFile).toBe(etc('authority.pem'))
    expect(readFileSync(etc('authority.pem'), 'utf8')).toBe(readFileSync(ca, 'utf8'))
    expect((await command(args)).stdout).toContain('Everything is there already. Nothing was changed.')
    await compareWithOptions(args, etc('edge.yaml'))

    // The socket of the agent is in a folder of this test, and for no group.
    for (const name of ['drawbridge.yaml', 'edge.yaml']) {
      const text = readFileSync(etc(name), 'utf8')
        .replace('/run/drawbridge/edge.sock', etc('edge.sock'))
        .replace(/\n {2}group: .*/, '')
      writeFileSync(etc(name), text)
    }
    expect(loadEdgeAgentConfig(etc('edge.yaml'))).toMatchObject({ server: '23', ports: at.ports })
    const agent = await startDaemon({
      name: 'the agent',
      program: launcher(),
      args: ['edge', '--config', etc('edge.yaml')],
      logFile: etc('agent.log'),
      isReady: async () => existsSync(etc('edge.sock')),
    })
    const service = await startService(at, apiPort)
    try {
      const { planId } = await applied(service, { port: backend.port, health: '/' })
      const place = { address: at.address, port: at.ports.http }
      expect(await askPlainly(place, `hello.${ZONE}`)).toBe('200  exposed')
      expect(await askPlainly(place, 'unknown.test')).toBe('200  Welcome to nginx!')
      await removed(service, planId)
      expect(await askPlainly(place, `hello.${ZONE}`)).toBe('200  Welcome to nginx!')
    } finally {
      await service.stop()
      await agent.stop()
    }
  })
})

/** What is there is compared with what is asked. */
async function compareWithOptions(args: readonly string[], agentFile: string): Promise<void> {
  const other = [...args, '--target', '26=127.0.0.1', '--acme-directory', 'letsencrypt']
  const differs = 'drawbridge.yaml differs from your options (target, acme-directory).'
  expect(await command(other)).toMatchObject({ code: 1, stderr: expect.stringContaining(differs) })
  renameSync(agentFile, `${agentFile}.away`)
  const { code, stderr } = await command(other)
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`edge.yaml is missing, and ${differs} To write them anew, move drawbridge.yaml away.`),
  ])
  renameSync(`${agentFile}.away`, agentFile)
}

/** `drawbridge serve`, ready and able to apply. */
async function startService(at: OwnNginx, apiPort: number) {
  const api = `http://${at.address}:${apiPort}`
  const daemon = await startDaemon({
    name: 'Drawbridge',
    program: launcher(),
    args: ['serve', '--config', configOf(at)],
    logFile: join(at.prefix, '..', 'service.log'),
    killAfterMs: 40_000,
    isReady: () =>
      call(api, { path: '/readyz', from: '127.0.0.1' }).then(
        ({ body }) => body.status === 'ok',
        () => false,
      ),
  })
  return { ...calledService(at, apiPort), stop: () => daemon.stop() }
}

const calledService = ({ address }: OwnNginx, apiPort: number) => ({
  description: { zone: ZONE },
  call: (request: { path: string }) => call(`http://${address}:${apiPort}`, { ...request, from: '127.0.0.1' }),
})

describe('refuses with the exact reason before anything is written', () => {
  const REFUSALS: readonly (readonly [string, Sites, readonly string[], RegExp])[] = [
    [
      'the PROXY protocol',
      (at) => ({ 'conf.d/a.conf': `server { listen ${at.http} proxy_protocol; return 200; }` }),
      [],
      /PROXY protocol on \*:\d+ \(\S+a\.conf, line 1\)/,
    ],
    [
      'an include in the wrong place',
      (at) => ({
        'nginx.conf': debianMain(at.prefix, '').replace('http {', `http {\n\t${INCLUDE}`),
        'conf.d/a.conf': `server { listen ${at.http}; server_name first.test; return 200; }`,
      }),
      [],
      /Move the include of Drawbridge to the end of the http block/,
    ],
    [
      'a DNS server of other zones',
      () => ({}),
      ['--zone', 'other.test'],
      /is not an authoritative server of other\.test: REFUSED/,
    ],
    ['a port that is none', () => ({}), ['--http-port', '0'], /--http-port "0" is not valid/],
    [
      'an nginx that is not there',
      () => ({}),
      ['--nginx', '/nowhere/nginx'],
      /\/nowhere\/nginx could not be run .*ENOENT/,
    ],
  ]

  test.each(REFUSALS)('%s', async (_, sites, options, reason) => {
    const at = await started(sites)
    const before = everything(at)
    const { code, stderr } = await command(argsFor(at, 8045, '--yes', ...options))
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(reason)])
    expect(everything(at)).toEqual(before)
  })

  test('a main file that is not UTF-8: it would not be the same afterwards', async () => {
    const at = await started(() => ({}))
    const main = Buffer.from(
      readFileSync(at.config, 'utf8').replace('http {', 'http {\n\troot /srv/b\u00fcro;'),
      'latin1',
    )
    writeFileSync(at.config, main)
    const before = everything(at)
    const { code, stderr } = await command(argsFor(at, 8045, '--yes'))
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(`${at.config} is not written in UTF-8`)])
    expect(everything(at)).toEqual(before)
    expect(readFileSync(at.config)).toEqual(main)
  })

  test('a main file that somebody edits while init asks', async () => {
    const at = await started(() => ({}))
    const before = everything(at).filter((line) => !line.includes('nginx.conf'))
    const edited = `${readFileSync(at.config, 'utf8')}# edited\n`
    const args = argsFor(at, 8045, '--target', 'none', '--acme-ca', 'none').join(' ')
    const output = await onTerminal(`${launcher()} ${args}`, {
      columns: 1_000,
      inputAfter: 'Write these files and reload nginx?',
      input: () => {
        writeFileSync(at.config, edited)
        return 'y\n'
      },
    })
    expect(output).toContain(`${at.config} was changed by somebody else at the same time. It was not overwritten.`)
    expect(readFileSync(at.config, 'utf8')).toBe(edited)
    expect(everything(at).filter((line) => !line.includes('nginx.conf'))).toEqual(before)
  })

  test('an nginx whose configuration is broken, and one that does not run', async () => {
    const at = await started(() => ({}))
    at.write('conf.d/a.conf', 'canary_directive on;\n')
    const broken = await command(argsFor(at, 8045, '--yes'))
    expect(broken.stderr).toMatch(/nginx does not load .*a\.conf, line 1/)
    expect(broken.stderr).not.toContain('canary_directive')
    at.write('conf.d/a.conf', '')
    await at.daemon.stop()
    expect((await command(argsFor(at, 8045, '--yes'))).stderr).toMatch(/nginx does not run: .*nginx\.pid/)
    expect(existsSync(configOf(at))).toBe(false)
  })
})

test('a key is tried with its own algorithm', async () => {
  const key = randomKey('long', 'hmac-sha512')
  const server = await startBindHost({ zone: ZONE, key, stranger: randomKey('stranger') }, await freePort())
  const works = initParts.assertKeyWorks(ZONE, server.endpoint, key)
  await expect(works.finally(() => server.stop())).resolves.toBeUndefined()
})

test('a rehearsal that is not served takes back what was written', async () => {
  const at = await started(() => ({ 'conf.d/closed.conf': 'deny all;\n' }))
  const before = everything(at)
  const { code, stderr } = await command(argsFor(at, 8045, '--yes'))
  expect(code).not.toBe(0)
  expect(stderr).toContain('The rehearsal failed, and everything is as it was before.')
  expect(stderr).toContain('The test entry was not served: HTTP 403.')
  expect(everything(at)).toEqual(before)
})

test('a test entry that cannot be taken away goes with the folder, and an include that was there before stays', async () => {
  const at = await started(({ prefix }) => ({ 'nginx.conf': debianMain(prefix) }))
  const before = everything(at)
  const withEdge: typeof initParts.withEdge = (place, work) =>
    initParts.withEdge(place, (edge) =>
      work({
        ...edge,
        prepare: () => edge.prepare(),
        ask: (question) => edge.ask(question),
        change: (asked) =>
          asked.items[0]?.wanted === 'absent' ? Promise.reject(new Error('nobody proved it')) : edge.change(asked),
      }),
    )
  const options = {
    ...{ config: configOf(at), nginx: at.binary, nginxConfig: at.config, nginxPrefix: at.prefix },
    ...{ httpPort: String(at.ports.http), httpsPort: String(at.ports.https), address: at.address, zone: ZONE },
    ...{ dnsServer: `127.0.0.1:${port}`, internalNetwork: ['127.0.0.0/8'], yes: true },
  }
  const screen = { print: () => undefined } as never
  await expect(init(options, { ...initParts, withEdge }, screen, undefined)).rejects.toThrow(
    'The rehearsal failed, and everything is as it was before. nobody proved it',
  )
  expect(everything(at)).toEqual(before)
})

/** All names only in a campaign. The first twelve have every style. */
const isCampaign = process.env.CAMPAIGN !== undefined
const SOME = 12
const APPLIES = isCampaign ? 20 : 2

test(`sixty sites of others stay as they are: init, ${APPLIES} applies and as many removes`, async () => {
  await using backend: WebBackend = await startWebBackend(
    { description: { backends: [] } } as never,
    (_request, response) => void response.end('exposed\n'),
    '127.0.0.1',
  )
  let names: string[] = []
  const at = await started((ports) => {
    const sixty = sixtySites(ports, backend.port)
    names = sixty.names
    return sixty.files
  })
  const theirs = () =>
    everything(at).filter((line) => line.startsWith('nginx/') && !/^nginx\/(?:drawbridge|nginx\.conf)/.test(line))
  const [files, answers] = [theirs(), await allAnswers(at, names)]
  const apiPort = await freePort(at.address)
  const initialized = await command(argsFor(at, apiPort, '--target', '25=127.0.0.1', '--yes'))
  expect([initialized.code, initialized.stderr]).toEqual([0, ''])
  expect(theirs()).toEqual(files)
  if (isCampaign) expect(await allAnswers(at, names)).toEqual(answers)

  // What the administrator does next: the key into BIND, a certificate into a folder.
  const secret = readFileSync(join(configOf(at), '..', 'tsig.key'), 'utf8').trim()
  await bind.stop()
  bind = await startBindHost(
    { zone: ZONE, key: { ...randomKey('drawbridge'), secret }, stranger: randomKey('stranger') },
    port,
  )
  const certificates = join(configOf(at), '..', 'certificates')
  mkdirSync(certificates)
  const pem = (name: string) => join(certificates, name)
  await makeCertificate({ certificate: pem('a.pem'), key: pem('a.key'), names: [`DNS:*.${ZONE}`] })
  writeFileSync(configOf(at), `${readFileSync(configOf(at), 'utf8')}certificates: [${certificates}]\n`)
  await using _ = await serving(configOf(at))
  const service = calledService(at, apiPort)
  const report = JSON.parse((await command(['doctor', '--config', configOf(at), '--json'])).stdout)
  const faults = report.findings.filter(({ status }: { status: string }) => status === 'fault')
  // There is no certificate authority in this test.
  expect(faults.map(({ subject }: { subject: string }) => subject)).toEqual(['authority'])
  const plans: string[] = []
  for (let number = 0; number < APPLIES; number += 1) {
    const wish = { subdomain: `app-${number}`, port: backend.port, health: '/', tls: number % 2 === 0 }
    plans.push((await applied(service, wish)).planId)
  }
  expect(await askPlainly({ address: at.address, port: at.ports.http }, `app-1.${ZONE}`)).toBe('200  exposed')
  expect(await askSecurely({ address: at.address, port: at.ports.https }, `app-0.${ZONE}`, 'TLSv1.2')).toMatch(
    /exposed/,
  )
  expect(await allAnswers(at, names)).toEqual(answers)
  expect(theirs()).toEqual(files)
  for (const planId of plans) await removed(service, planId)
  expect(await allAnswers(at, names)).toEqual(answers)
  expect(theirs()).toEqual(files)
}, 180_000)

/** What visitors of all names get, unknown ones and none included, with each protocol, on three addresses. */
async function allAnswers({ address, ports }: OwnNginx, names: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const at of [address, '127.0.0.1', '::1']) {
    const [http, https] = [
      { address: at, port: ports.http },
      { address: at, port: ports.https },
    ]
    const asked = isCampaign ? names : names.slice(0, SOME)
    await Promise.all(
      ['unknown.test', `unknown.${ZONE}`, ...asked].map(async (name, index) => {
        found[`http ${at} ${name}`] = await askPlainly(http, name)
        found[`TLSv1.2 ${at} ${name}`] = await askSecurely(https, name, 'TLSv1.2')
        if (isCampaign || index < SOME) found[`TLSv1.3 ${at} ${name}`] = await askSecurely(https, name, 'TLSv1.3')
      }),
    )
    found[`TLS ${at} without a name`] = await askSecurely(https, undefined, 'TLSv1.2')
  }
  return found
}
