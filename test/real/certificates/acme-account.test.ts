import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { accountKeyPath } from '../../../src/certificates/stock/issued-files.ts'
import { HOST, issuingBench } from '../../support/acme/issuing.ts'
import { command } from '../../support/programs/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** A Pebble that takes only those whom it knows already. */
const hmacKey = randomBytes(32).toString('base64url')
const externalAccount = { keyId: 'kid-1', hmacKey }
const { bench, issuer, faultOf, ordersPlaced } = issuingBench({ 'kid-1': hmacKey })

const issue = (more: Parameters<typeof issuer>[0] = {}) => issuer(more).issue([HOST], bench().site.responder)
/** What each registration was answered with: 201 for a new account, 200 for one that there is. */
const registrations = () => bench().proxy.seen.flatMap(({ path, status }) => (path === '/sign-me-up' ? [status] : []))

describe('an authority that takes only those whom it knows', () => {
  test('refuses who shows no binding, or a wrong one; nothing is ordered and no key is told', async () => {
    expect(await faultOf(issue())).toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('(externalAccountRequired)'),
    })
    const wrong = { keyId: 'kid-1', hmacKey: randomBytes(32).toString('base64url') }
    const refused = await faultOf(issue({ externalAccount: wrong }))
    expect(refused).toMatchObject({ kind: 'rejected' })
    expect(refused.message).not.toContain(wrong.hmacKey)
    expect(await faultOf(issue({ externalAccount: { keyId: 'kid-2', hmacKey } }))).toMatchObject({ kind: 'rejected' })
    expect(ordersPlaced()).toBe(0)
  })

  test('issues for who does', async () => {
    expect((await issue({ externalAccount })).names).toEqual([HOST])
    expect(registrations()).toEqual([201])
  })
})

describe('the key of the account', () => {
  const drawbridge = (...args: string[]) => command(args)

  const configured = (folder: string): string => {
    const file = join(folder, 'drawbridge.yaml')
    const acme = `{ directory: "${bench().proxy.directory}" }`
    const zones = '{ issue.test: { primary: 127.0.0.1 } }'
    writeFileSync(file, `stateDir: ${bench().state.path}\nzones: ${zones}\nacme: ${acme}\n`)
    return file
  }

  test('is exported to a new file for its owner alone, and carries the account to another place', async () => {
    await issue({ externalAccount })
    using folder = tempFolder()
    const [config, to] = [configured(folder.path), join(folder.path, 'account.key')]
    const before = process.umask(0)
    const { stdout } = await drawbridge('acme', 'export-account', '--config', config, '--to', to).finally(() =>
      process.umask(before),
    )
    const pem = readFileSync(to, 'utf8')
    expect(statSync(to).mode & 0o777).toBe(0o600)
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----/)
    expect(stdout).not.toContain(pem.split('\n')[1])
    using elsewhere = tempFolder()
    await issue({ stateDir: elsewhere.path, accountKey: pem, externalAccount })
    expect(registrations()).toEqual([201, 200])
  })

  test.each([
    ['RSA', 'pkcs1', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['P-384', 'sec1', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
  ] as const)('may be %s, in the %s format', async (_type, type, key) => {
    const accountKey = key.export({ type, format: 'pem' }).toString()
    expect((await issue({ accountKey, externalAccount })).names).toEqual([HOST])
  })

  test('keeps its account, whose contacts follow the configuration', async () => {
    const updates = () => bench().proxy.seen.filter(({ path }) => path.startsWith('/my-account/')).length
    await issue({ externalAccount, contact: ['a@lab.test'] })
    await issue({ externalAccount, contact: ['a@lab.test'] })
    expect(updates()).toBe(0)
    await issue({ externalAccount, contact: ['b@lab.test'] })
    expect(updates()).toBe(1)
    expect(registrations()).toEqual([201, 200, 200])
  })

  test('is never written over anything, and not made for the sake of being exported', async () => {
    using folder = tempFolder()
    const [config, to] = [configured(folder.path), join(folder.path, 'there')]
    const exporting = (file: string) => drawbridge('acme', 'export-account', '--config', config, '--to', file)
    expect((await exporting(to)).stderr).toContain('There is no account at')
    const key = accountKeyPath(bench().state.path, bench().proxy.directory)
    mkdirSync(join(key, '..'), { recursive: true })
    writeFileSync(key, 'no key', { mode: 0o600 })
    expect((await exporting(to)).stderr).toContain('does not have a private key')
    writeFileSync(to, 'mine')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    expect((await exporting(to)).stderr).toContain(`${to} exists already. It was not overwritten.`)
    symlinkSync(join(folder.path, 'nowhere'), join(folder.path, 'link'))
    expect((await exporting(join(folder.path, 'link'))).stderr).toContain('exists already')
    expect(readFileSync(to, 'utf8')).toBe('mine')
  })

  test('that is configured and is none is told of without its text', async () => {
    const refused = await issue({ accountKey: 'canary', externalAccount }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ kind: 'local', message: expect.stringContaining('acme.accountKeyFile') })
    expect(String(refused)).not.toContain('canary')
  })
})
