import { X509Certificate } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { InstalledNames } from '../../../src/certificates/stock/installed-names.ts'
import { SharedPairs } from '../../../src/certificates/vault/shared-pairs.ts'
import { rotateKeys, Vault } from '../../../src/certificates/vault/vault.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { makeAgedCertificate } from '../../support/edge/openssl.ts'
import { freshFolder } from '../../support/fresh.ts'

const CANARY = 'canary-secret-0815'

const at = freshFolder()
let store: Store
const KEY_FILE = () => at('store.key')

beforeEach(async () => {
  store = await openStore({ kind: 'sqlite', file: at('drawbridge.db') })
})
afterEach(async () => {
  await store.close()
})

const openVault = (file = KEY_FILE()) => Vault.open({ store, file, now: Date.now })
const rotate = (more: { forgetsLost?: boolean; untilShared?: (keyId: string) => Promise<void> } = {}) =>
  rotateKeys({
    store,
    file: KEY_FILE(),
    now: Date.now,
    forgetsLost: false,
    untilShared: async () => undefined,
    ...more,
  })
/** Everything that lies on the disk of the store, as text. */
const onDisk = () =>
  readdirSync(at())
    .filter((name) => name.startsWith('drawbridge.db'))
    .map((name) => readFileSync(at(name), 'latin1'))
    .join()

describe('a secret', () => {
  test('is read again with the key file that was made by itself, and is not in the store as text', async () => {
    await (await openVault()).put('a', CANARY)
    expect(await (await openVault()).read('a')).toBe(CANARY)
    expect(statSync(KEY_FILE()).mode & 0o777).toBe(0o600)
    expect(onDisk()).not.toContain(CANARY)
    const [secret] = await store.listSecrets()
    expect(secret?.keyId).toBe(await store.sealingKey())
  })

  test('is sealed otherwise each time', async () => {
    const vault = await openVault()
    await vault.put('a', CANARY)
    const first = await store.findSecret('a')
    await vault.put('a', CANARY)
    expect(await store.findSecret('a')).not.toEqual(first)
  })

  test('that was changed, or put in the place of another, is refused without showing it', async () => {
    const vault = await openVault()
    await vault.put('a', CANARY)
    const secret = await store.findSecret('a')
    if (!secret) throw new Error('The secret is missing.')
    await store.putSecret({ ...secret, name: 'b' }, 0)
    await expect(vault.read('b')).rejects.toThrow('"b" in the store was changed outside Drawbridge')
    const bytes = Buffer.from(secret.sealed, 'base64')
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await store.putSecret({ ...secret, sealed: bytes.toString('base64') }, 0)
    const fault = await vault.read('a').catch((error: Error) => error.message)
    expect(fault).toContain('was changed outside Drawbridge')
    expect(fault).not.toContain(CANARY)
  })

  test('is put once by many', async () => {
    const [one, two] = [await openVault(), await openVault()]
    const put = await Promise.all([one.putOnce('a', '1'), two.putOnce('a', '2'), one.putOnce('a', '3')])
    expect(new Set(put).size).toBe(1)
  })
})

test('a secret that many change at once is changed by each of them', async () => {
  const vaults = [await openVault(), await openVault()]
  const more = (stored = '0') => String(Number(stored) + 1)
  await Promise.all(Array.from({ length: 20 }, (_, at) => vaults[at % 2]?.change('a', more)))
  expect(await vaults[0]?.read('a')).toBe('20')
})

describe('the key file', () => {
  test('of another store is refused by a sentence that says what to do', async () => {
    await openVault()
    await expect(openVault(at('other.key'))).rejects.toThrow('Copy that file from another instance or from a backup')
  })

  test('that others can read is refused', async () => {
    await openVault()
    chmodSync(KEY_FILE(), 0o640)
    await expect(openVault()).rejects.toThrow('chmod 0600')
  })

  test('that is damaged is refused without its content', async () => {
    await openVault()
    const text = readFileSync(KEY_FILE(), 'utf8')
    const key = / (\S{44})$/m.exec(text)?.[1] ?? ''
    writeFileSync(KEY_FILE(), text.replace(key.slice(0, 4), 'AAAA'))
    const fault = await openVault().catch((error: Error) => error.message)
    expect(fault).toContain('is damaged')
    expect(fault).not.toContain(key.slice(4, 20))
  })
})

describe('a rotation', () => {
  test('seals everything with a new key, and a vault that is open reads and writes on', async () => {
    const vault = await openVault()
    for (let i = 0; i < 5; i += 1) await vault.put(`secret ${i}`, `${CANARY} ${i}`)
    const before = await store.sealingKey()
    const rotation = await rotate()
    expect(rotation).toMatchObject({ from: before, sealed: 5, lost: [] })
    expect(new Set((await store.listSecrets()).map(({ keyId }) => keyId))).toEqual(new Set([rotation.to]))
    expect(readFileSync(KEY_FILE(), 'utf8')).not.toContain(before)
    expect(await vault.read('secret 3')).toBe(`${CANARY} 3`)
    await vault.put('later', 'x')
    expect((await store.findSecret('later'))?.keyId).toBe(rotation.to)
  })

  test('waits until every instance has the key, and goes on with the same key at the next call', async () => {
    await (await openVault()).put('a', CANARY)
    const before = await store.sealingKey()
    const tried: string[] = []
    const untilShared = async (keyId: string) => {
      tried.push(keyId)
      if (tried.length === 1) throw new Error('one instance does not have it')
    }
    await expect(rotate({ untilShared })).rejects.toThrow('one instance does not have it')
    expect(await store.sealingKey()).toBe(before)
    expect(await (await openVault()).read('a')).toBe(CANARY)
    expect((await rotate({ untilShared })).to).toBe(tried[0])
    expect(tried[1]).toBe(tried[0])
  })

  test('deletes what cannot be opened only if it is told that the key is lost', async () => {
    await (await openVault()).put('a', CANARY)
    rmSync(KEY_FILE())
    await expect(rotate()).rejects.toThrow('pass --lost')
    expect(await store.listSecrets()).toHaveLength(1)
    expect(await rotate({ forgetsLost: true })).toMatchObject({ sealed: 0, lost: ['a'] })
    expect(await (await openVault()).read('a')).toBeUndefined()
  })

  test('beside writers leaves nothing that the new key cannot open', async () => {
    const vault = await openVault()
    let done = false
    const writing = (async () => {
      for (let i = 0; !done; i += 1) await vault.put(`secret ${i % 30}`, `${i}`)
    })()
    await rotate()
    await rotate()
    done = true
    await writing
    const fresh = await openVault()
    const secrets = await store.listSecrets()
    expect(secrets.length).toBeGreaterThan(0)
    for (const secret of secrets) expect(fresh.unseal(secret)).toMatch(/^\d+$/)
  })
})

describe('issued pairs', () => {
  const DAY = 86_400_000
  const pairsOf = async (state: string, installed = new InstalledNames(), now = Date.now) =>
    new SharedPairs({ stateDir: at(state), store, vault: await openVault(), now, installed })
  /** A pair in the folder of an instance, as an order installs it. */
  const issue = async (state: string, name: string, daysOld: number, below = name.replace('*', '_wildcard')) => {
    const place = at(state, 'certificates', below)
    mkdirSync(place, { recursive: true, mode: 0o700 })
    const [certificate, key] = [join(place, 'fullchain.pem'), join(place, 'privkey.pem')]
    const begins = Date.now() - daysOld * DAY
    await makeAgedCertificate(
      { certificate, key, names: [`DNS:${name}`] },
      new Date(begins),
      new Date(begins + 90 * DAY),
    )
    chmodSync(key, 0o600)
    return readFileSync(certificate, 'utf8')
  }
  const live = (state: string, name: string, file = 'fullchain.pem') =>
    readFileSync(at(state, 'certificates', name.replace('*', '_wildcard'), file), 'utf8')

  test('of the folder go into the store, and from there into the folder of another instance', async () => {
    const chain = await issue('one', '*.lab.test', 1)
    mkdirSync(at('two'), { mode: 0o700 })
    await (await pairsOf('one')).update()
    await (await pairsOf('two')).update()
    expect(live('two', '*.lab.test')).toBe(chain)
    expect(live('two', '*.lab.test', 'privkey.pem')).toBe(live('one', '*.lab.test', 'privkey.pem'))
    expect(statSync(at('two', 'certificates', '_wildcard.lab.test', 'privkey.pem')).mode & 0o777).toBe(0o600)
    const body = live('one', '*.lab.test', 'privkey.pem').split('\n')[1] ?? ''
    expect(body.length).toBeGreaterThan(40)
    expect(onDisk()).not.toContain(body)
  })

  test('that are newer reach every instance, and an older one never takes their place', async () => {
    await issue('one', 'a.lab.test', 60)
    mkdirSync(at('two'), { mode: 0o700 })
    const [one, two] = [await pairsOf('one'), await pairsOf('two')]
    await one.update()
    await two.update()
    const renewed = await issue('two', 'a.lab.test', 1)
    await (await pairsOf('two')).update()
    await one.update()
    expect(live('one', 'a.lab.test')).toBe(renewed)
    const away = await issue('away', 'a.lab.test', 80)
    await (await pairsOf('away')).update()
    expect(live('away', 'a.lab.test')).toBe(renewed)
    expect((await store.listCertificates()).map(({ chain }) => chain)).not.toContain(away)
  })

  test('that another instance stores are found whatever its clock says, and the inventory is told of each', async () => {
    await issue('one', 'a.lab.test', 60)
    mkdirSync(at('two'), { mode: 0o700 })
    const installed = new InstalledNames()
    const two = await pairsOf('two', installed)
    await (await pairsOf('one')).update()
    await two.update()
    expect([...installed.take()]).toEqual(['a.lab.test'])
    await issue('one', 'b.lab.test', 1)
    const late = await pairsOf('one', new InstalledNames(), () => Date.now() - DAY)
    await late.publish('b.lab.test', {
      certificatePem: live('one', 'b.lab.test'),
      keyPem: live('one', 'b.lab.test', 'privkey.pem'),
      fingerprint: new X509Certificate(live('one', 'b.lab.test')).fingerprint256,
    })
    await two.update()
    expect(live('two', 'b.lab.test')).toBe(live('one', 'b.lab.test'))
    expect([...installed.take()]).toEqual(['b.lab.test'])
    await two.update()
    expect([...installed.take()]).toEqual([])
  })

  // Row 38 of the threats, by way of the store: whoever can write rows chooses neither a folder nor another host's pair.
  test.each(['../../victim', '..', '.previous-x', 'b.lab.test', 'a/../../victim', ''])(
    'that are stored under the name %j of another text or host are not installed',
    async (firstName) => {
      await issue('one', 'a.lab.test', 1)
      await (await pairsOf('one')).update()
      const [certificate] = await store.listCertificates()
      if (!certificate) throw new Error('The certificate is missing.')
      await store.deleteCertificate(certificate.fingerprint)
      await store.putCertificate({ ...certificate, firstName })
      mkdirSync(at('two', 'victim'), { recursive: true, mode: 0o700 })
      mkdirSync(at('victim'))
      writeFileSync(at('victim', 'kept'), 'x')
      await (await pairsOf('two')).update().catch(() => undefined)
      expect(readFileSync(at('victim', 'kept'), 'utf8')).toBe('x')
      expect(readdirSync(at('two')).filter((name) => name !== 'victim')).toEqual([])
    },
  )

  test('are kept twice for each name, with their keys', async () => {
    const pairs = await pairsOf('one')
    for (const daysOld of [50, 40, 30, 20]) {
      await issue('one', 'a.lab.test', daysOld)
      await (await pairsOf('one')).update()
    }
    await pairs.update()
    expect(await store.listCertificates()).toHaveLength(2)
    expect(await store.listSecrets()).toHaveLength(2)
  })
})
