import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { rotateKeys, Vault } from '../../../src/certificates/vault/vault.ts'
import type { Store, StoreSession } from '../../../src/store/ports/store.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import type { Bench } from '../engines.ts'
import { NOW } from '../samples.ts'

export function secretSuite(on: Bench): void {
  describe('secrets', () => {
    on.it('are found by name, replaced and deleted', async (store) => {
      const secret = { name: 'a', keyId: 'key-1', sealed: 'xyz' }
      await store.putSecret(secret, NOW)
      await store.putSecret({ ...secret, keyId: 'key-2' }, NOW)
      expect(await store.findSecret('a')).toStrictEqual({ ...secret, keyId: 'key-2' })
      expect(await store.listSecrets()).toStrictEqual([{ ...secret, keyId: 'key-2' }])
      await store.deleteSecret('a')
      await store.deleteSecret('a')
      expect(await store.findSecret('a')).toBeUndefined()
    })

    on.it('have one sealing key, which changes by comparison', async (one, two) => {
      expect(await one.sealingKey()).toBeUndefined()
      const set = await Promise.all([one.setSealingKey('key-1', undefined), two.setSealingKey('key-2', undefined)])
      expect(set.filter(Boolean)).toHaveLength(1)
      const present = await one.sealingKey()
      expect(await two.setSealingKey('key-3', 'key-0')).toBe(false)
      expect(await two.setSealingKey('key-3', present)).toBe(true)
      expect(await one.transaction((session) => session.holdSealingKey())).toBe('key-3')
    })

    on.it('keep whoever changes the key waiting while something is sealed with it', async (one, two) => {
      await one.setSealingKey('key-1', undefined)
      const order: string[] = []
      const sealing = one.transaction(async (session) => {
        await session.holdSealingKey()
        order.push('held')
        await session.putSecret({ name: 'a', keyId: 'key-1', sealed: 'x' }, NOW)
        for (let i = 0; i < 20; i += 1) await session.findSecret('a')
        order.push('sealed')
      })
      await expect.poll(() => order).toContain('held')
      const seen = await two.transaction(async (session) => {
        await session.holdSealingKey()
        order.push('changed')
        return session.listSecrets()
      })
      await sealing
      expect(order).toStrictEqual(['held', 'sealed', 'changed'])
      expect(seen).toHaveLength(1)
    })
  })

  on.it('a secret that is dropped during a rotation of the key stays dropped', async (one, two, three) => {
    using folder = tempFolder()
    const parts = { file: join(folder.path, 'store.key'), now: () => NOW }
    const vault = await Vault.open({ ...parts, store: two })
    await vault.put('a', 'x')
    let dropped: Promise<void> | undefined
    const listSecrets = async (session: StoreSession) => {
      const listed = await session.listSecrets()
      dropped = vault.drop('a')
      // No engine reports that a statement waits: the drop gets there meanwhile.
      for (let i = 0; i < 20; i += 1) await three.ping()
      return listed
    }
    const watched = (session: StoreSession): StoreSession =>
      Object.create(session, { listSecrets: { value: () => listSecrets(session) } })
    const transaction: Store['transaction'] = (work) => one.transaction((session) => work(watched(session)))
    await rotateKeys({
      ...parts,
      store: { ...one, transaction },
      untilShared: async () => undefined,
      forgetsLost: false,
    })
    await dropped
    expect(await one.listSecrets()).toStrictEqual([])
  })

  describe('issued certificates', () => {
    on.it('are listed in the order in which they were stored, each once', async (store) => {
      const one = { fingerprint: 'AA', firstName: 'a.lab.test', chain: 'pem', storedAt: NOW + 1 }
      const two = { ...one, fingerprint: 'BB', storedAt: NOW }
      for (const certificate of [one, two, { ...one, chain: 'other' }]) await store.putCertificate(certificate)
      expect(await store.listCertificates()).toStrictEqual([two, one])
      await store.deleteCertificate('BB')
      expect(await store.listCertificates()).toStrictEqual([one])
    })

    on.it('are found by their first name, and by the time at which they were stored', async (store) => {
      expect(await store.newestCertificate()).toBe(0)
      const kept = (fingerprint: string, firstName: string, storedAt: number) => ({
        ...{ fingerprint, firstName, storedAt },
        chain: 'pem',
      })
      const all = [kept('AA', 'b.lab.test', NOW + 2), kept('BB', 'a.lab.test', NOW + 1), kept('CC', 'b.lab.test', NOW)]
      for (const certificate of all) await store.putCertificate(certificate)
      expect(await store.certificatesOf('b.lab.test')).toStrictEqual([all[2], all[0]])
      expect(await store.certificateNamesSince(NOW - 1)).toStrictEqual(['a.lab.test', 'b.lab.test'])
      expect(await store.certificateNamesSince(NOW + 1)).toStrictEqual(['b.lab.test'])
      expect(await store.newestCertificate()).toBe(NOW + 2)
    })
  })
}
