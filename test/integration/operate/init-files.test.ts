import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadEdgeAgentConfig } from '../../../src/config/edge-agent.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { INCLUDE, initHere } from '../../support/init-here.ts'

const DONE = 'Everything is there already. Nothing was changed.'

test('another zone is refused with every file to move away; moved, both files are written for it', async () => {
  using here = initHere()
  await here.call()
  expect(await here.call()).toContain(DONE)
  const other = { zone: 'example.org' }
  expect(await here.call(other)).toContain(
    'refused: drawbridge.yaml differs from your options (zone), and edge.yaml differs from your options (zone). ' +
      'To write them anew, move drawbridge.yaml and edge.yaml away.',
  )
  for (const name of ['drawbridge.yaml', 'edge.yaml']) renameSync(here.path('etc', name), here.path(name))
  expect(await here.call(other)).not.toContain('refused')
  expect(loadEdgeAgentConfig(here.path('etc', 'edge.yaml')).zones).toEqual(['example.org'])
  expect(await here.call(other)).toContain(DONE)
})

test('an edge.yaml that does not allow the zone is named, although drawbridge.yaml fits', async () => {
  using here = initHere()
  await here.call()
  const file = here.path('etc', 'edge.yaml')
  writeFileSync(file, here.text('etc', 'edge.yaml').replace('zones: ["example.com"]', 'zones: ["example.org"]'))
  expect(await here.call()).toContain('refused: edge.yaml differs from your options (zone).')
})

test('what is in the way of a new file is refused before anything is written; a file with the wanted text stays', async () => {
  using here = initHere()
  await here.call()
  const [config, agent] = [here.path('etc', 'drawbridge.yaml'), here.path('etc', 'edge.yaml')]
  renameSync(config, here.path('away.yaml'))
  const before = listing(here.path())
  expect(await here.call({ zone: 'example.org' })).toBe(
    `refused: ${agent} is there already and differs from what init would write. Nothing was written. ` +
      'Move it away, and call init again.',
  )
  expect(listing(here.path())).toEqual(before)
  expect(await here.call()).toContain(`${agent} is there already.`)
  expect(here.text('etc', 'drawbridge.yaml')).toBe(here.text('away.yaml'))
})

test('a file that cannot be written takes back all others', async () => {
  using here = initHere()
  writeFileSync(here.path('nginx', 'drawbridge'), 'a file in the place of the folder')
  const before = listing(here.path())
  expect(await here.call()).toMatch(
    /refused: Not every file could be written, and everything is as it was before\. EEXIST: .*nginx\/drawbridge/,
  )
  expect(listing(here.path())).toEqual(before)
})

test.each([['key first'], ['certificate first']])(
  'only the certificates of the file of --acme-ca are kept: %s',
  async (order) => {
    using here = initHere()
    const [certificate, key] = [here.path('ca.pem'), here.path('ca.key')]
    await makeCertificate({ certificate, key, names: ['DNS:authority.test'] })
    const [alone, secret] = [here.text('ca.pem'), here.text('ca.key')]
    writeFileSync(certificate, (order === 'key first' ? [secret, alone] : [alone, secret, alone]).join('# a note\n'))
    const printed = await here.call({ acmeDirectory: 'https://authority.test/directory', acmeCa: certificate })
    expect(printed).toContain(`New file ${here.path('etc', 'authority.pem')}`)
    expect(printed).not.toMatch(/PRIVATE KEY|refused/)
    expect(here.text('etc', 'authority.pem')).toBe(order === 'key first' ? alone : alone.repeat(2))
  },
)

test('a file without a certificate, or with a broken one, is refused', async () => {
  using here = initHere()
  const [certificate, key] = [here.path('ca.pem'), here.path('ca.key')]
  await makeCertificate({ certificate, key, names: ['DNS:authority.test'] })
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  writeFileSync(certificate, `${here.text('ca.pem')}${broken}`)
  for (const acmeCa of [certificate, key])
    expect(await here.call({ acmeDirectory: 'https://authority.test/directory', acmeCa })).toContain(
      `refused: --acme-ca ${JSON.stringify(acmeCa)} is not valid. Allowed: a file with a certificate as PEM.`,
    )
})

test.each([
  [['23=192.0.2.99'], '--target 23=192.0.2.99 has the id of this server (--server 23), whose address is 192.0.2.10'],
  [['25=192.0.2.25', '25=192.0.2.26'], '--target names 25 twice, as 192.0.2.25 and as 192.0.2.26. Pass each id once.'],
])('targets %j are refused: an address would be lost', async (target, told) => {
  using here = initHere()
  const before = listing(here.path())
  expect(await here.call({ target })).toContain(`refused: ${told}`)
  expect(listing(here.path())).toEqual(before)
})

test('a key of another algorithm is tried and shown with it, and its secret is not shown', async () => {
  using here = initHere()
  const secret = () => here.text('etc', 'tsig.key').trim()
  const first = await here.call()
  expect(first).toContain(`key "drawbridge." { algorithm hmac-sha256; secret "${secret()}"; };`)
  const file = here.path('etc', 'drawbridge.yaml')
  writeFileSync(file, here.text('etc', 'drawbridge.yaml').replace('hmac-sha256', 'hmac-sha512'))
  const tried: unknown[] = []
  const refuses = async (...asked: unknown[]) => {
    tried.push(asked[2])
    throw new Error('BADKEY')
  }
  const again = await here.call({}, { assertKeyWorks: refuses })
  expect(tried).toMatchObject([{ name: 'drawbridge', algorithm: 'hmac-sha512', secret: secret() }])
  expect(again).toContain('key "drawbridge." { algorithm hmac-sha512; secret "SECRET"; };')
  expect(again).toContain('      algorithm: hmac-sha512\n      secret: SECRET\n')
  expect(again).toContain('pdnsutil import-tsig-key drawbridge hmac-sha512 SECRET')
  expect(again).toContain(
    `SECRET stands for what is in the file that zones.example.com.tsig.secretFile in ${file} names.`,
  )
  expect(again).not.toContain(secret())
})

test('the secret of a key that the administrator has made is not shown', async () => {
  using here = initHere()
  writeFileSync(here.path('etc', 'tsig.key'), 'c2VjcmV0\n', { mode: 0o600 })
  const printed = await here.call({}, { assertKeyWorks: () => Promise.reject(new Error('BADKEY')) })
  expect(printed).toContain(`SECRET stands for what is in ${here.path('etc', 'tsig.key')}.`)
  expect(printed).not.toContain('c2VjcmV0')
})

test.each([
  [{ server: 'web.1' }, '--server "web.1" cannot be used: servers.targets[0] is not valid.'],
  [{ tsigName: 'my key' }, '--tsig-name "my key" cannot be used: zones.example.com.tsig.name is not valid.'],
  [{ email: ['a@b.test', 'Ops <o@b.test>'] }, '--email "a@b.test" "Ops <o@b.test>" cannot be used: acme.contact[1]'],
  [{ acmeDirectory: 'https://[bad' }, '--acme-directory "https://[bad" cannot be used: acme.directory is not valid.'],
])('%j is refused, as the service would refuse it', async (given, told) => {
  using here = initHere()
  const before = listing(here.path())
  expect(await here.call(given)).toContain(`refused: ${told}`)
  expect(listing(here.path())).toEqual(before)
})

test.each([
  ['the syntax of BIND', 'key "drawbridge" { secret "c2VjcmV0"; };\n', 0o600, 'a value that is not base64.'],
  ['a mode for everybody', 'c2VjcmV0\n', 0o644, 'which other users than its owner may read. Run: chmod 0600 '],
  ['another owner', 'c2VjcmV0\n', 0o600, 'Run: chown drawbridge:drawbridge '],
])('a key that is there with %s is refused before anything is written', async (_, text, mode, told) => {
  using here = initHere()
  const key = here.path('etc', 'tsig.key')
  writeFileSync(key, text, { mode })
  const before = listing(here.path())
  const uid = statSync(key).uid + 1
  const printed = await here.call({}, { serviceUser: () => ({ uid, gid: uid }) })
  expect(printed).toMatch(new RegExp(`^refused: ${key} is there already and cannot be used: `))
  expect(printed).toContain(told)
  expect(listing(here.path())).toEqual(before)
})

test('a second call names each option that differs, of both files, and none that nobody gave', async () => {
  using here = initHere()
  const first = { server: '7', httpPort: '8080', httpsPort: '8443', apiPort: '9000', tsigName: 'Key.' }
  const more = { publish: ['203.0.113.5'], email: ['a@b.test'], nginxPrefix: here.path('nginx') }
  const findNginx = async () => ({
    ...(await here.standIns.findNginx({ binary: 'nginx' })),
    prefix: here.path('nginx'),
  })
  expect(await here.call({ ...first, ...more }, { findNginx })).not.toContain('refused')
  expect(await here.call({ ...first, ...more }, { findNginx })).toContain(DONE)
  expect(await here.callWith({ agent: true }, { findNginx })).toContain(DONE)
  const other = {
    ...{
      publish: ['203.0.113.6'],
      email: ['c@b.test'],
      server: '8',
      httpPort: '81',
      httpsPort: '444',
      apiPort: '9001',
    },
    ...{
      tsigName: 'other',
      stateDir: '/nowhere',
      nginx: '/nowhere/nginx',
      nginxPrefix: '/nowhere',
      address: '192.0.2.9',
    },
  }
  expect(await here.call(other)).toContain(
    'refused: drawbridge.yaml differs from your options (publish, tsig-name, server, address, http-port, https-port, ' +
      'api-port, state-dir, email), and edge.yaml differs from your options (server, address, http-port, https-port, ' +
      'nginx, nginx-prefix).',
  )
})

test('the same call succeeds twice, however the zone is written and although the file of --acme-ca has gone', async () => {
  using here = initHere()
  const [certificate, key] = [here.path('ca.pem'), here.path('ca.key')]
  await makeCertificate({ certificate, key, names: ['DNS:authority.test'] })
  const given = { zone: 'Example.COM.', acmeDirectory: 'https://authority.test/directory', acmeCa: certificate }
  expect(await here.call(given)).not.toContain('refused')
  expect(await here.call(given)).toContain(DONE)
  expect(await here.call({ ...given, acmeCa: 'none' })).toContain('differs from your options (acme-ca).')
  rmSync(certificate)
  expect(await here.call(given)).toContain(DONE)
})

test('the same call succeeds twice without an authority of its own', async () => {
  using here = initHere()
  const given = { acmeDirectory: 'https://authority.test/directory', acmeCa: 'none' }
  expect(await here.call(given)).not.toContain('refused')
  expect(await here.call(given)).toContain(DONE)
})

test('a root certificate for an authority that needs none is refused: the second call would miss it', async () => {
  using here = initHere()
  expect(await here.call({ acmeCa: '/nowhere/ca.pem' })).toContain(
    'refused: --acme-ca /nowhere/ca.pem is for a private authority, and --acme-directory is letsencrypt.',
  )
})

const REHEARSAL_FAILS = { withEdge: () => Promise.reject(new Error('The test entry was not served: HTTP 403.')) }

test('an include that the administrator had added stays when a rehearsal fails', async () => {
  using here = initHere({ main: `http {\n${INCLUDE}}\n` })
  const before = listing(here.path())
  expect(await here.call({}, REHEARSAL_FAILS)).toContain(
    'refused: The rehearsal failed, and everything is as it was before. The test entry was not served: HTTP 403.',
  )
  expect(listing(here.path())).toEqual(before)
})

test('the rest is taken back if nginx cannot be left, and both reasons are told', async () => {
  using here = initHere()
  const before = listing(here.path())
  const leave = () => Promise.reject(new Error('A service owns the folder.'))
  const printed = await here.call({}, { ...REHEARSAL_FAILS, leave })
  expect(printed).toContain(
    'refused: The rehearsal failed, and not everything could be taken back. The test entry was not served: HTTP 403.\n' +
      "nginx may run with Drawbridge's servers until it is reloaded: ",
  )
  expect(printed).toContain('service owns the folder.')
  expect(listing(here.path())).toEqual(before)
})

test('an edit of the main file during the rehearsal is kept when everything else is taken back', async () => {
  using here = initHere()
  const config = here.path('nginx', 'nginx.conf')
  const withEdge = () => {
    writeFileSync(config, `# Mine.\n${here.text('nginx', 'nginx.conf')}`)
    return REHEARSAL_FAILS.withEdge()
  }
  expect(await here.call({}, { withEdge })).toContain(`${config} is not as it was, and `)
  expect(here.text('nginx', 'nginx.conf')).toBe('# Mine.\nhttp {\n}\n')
})

test('the copy of the main file stays if the main file cannot be put back', async () => {
  using here = initHere()
  const main = here.text('nginx', 'nginx.conf')
  const leave = async () => {
    rmSync(here.path('nginx', 'nginx.conf'))
    mkdirSync(here.path('nginx', 'nginx.conf'))
  }
  const copy = here.path('etc', 'nginx.conf.before-drawbridge')
  expect(await here.call({}, { ...REHEARSAL_FAILS, leave })).toContain(
    `${here.path('nginx', 'nginx.conf')} is not as it was, and ${copy} is its copy: `,
  )
  expect(readdirSync(here.path('etc'))).toEqual(['nginx.conf.before-drawbridge'])
  expect(here.text('etc', 'nginx.conf.before-drawbridge')).toBe(main)
})
