import type { OrderSecrets } from '../certificates/contract.ts'
import { InstalledNames } from '../certificates/stock/installed-names.ts'
import { SharedPairs } from '../certificates/vault/shared-pairs.ts'
import { Vault } from '../certificates/vault/vault.ts'
import type { Config } from '../config/config.ts'
import type { SecretShelf } from '../edge/authority/trust.ts'
import { type Clock, systemClock } from '../primitives/clock.ts'
import type { Claim } from '../runtime/instance.ts'
import { type OpenOptions, openStore, type StoreSetting } from '../store/open.ts'
import type { Store } from '../store/ports/store.ts'

/** Opens the store and ties the claim to it: closing the store, or failing to open it, releases the claim. */
export async function openClaimed(config: Config, options: OpenOptions, claim: Claim): Promise<Store> {
  const store = await open(config, options).catch((error: unknown) => {
    claim.release()
    throw error
  })
  return { ...store, close: () => store.close().finally(() => claim.release()) }
}

export const open = (config: Config, options: OpenOptions): Promise<Store> => openStore(settingOf(config), options)

export const settingOf = ({ store }: Config): StoreSetting =>
  store.kind === 'sqlite' ? store : { kind: 'postgres', url: store.url.reveal() }

export interface Secrets extends OrderSecrets, SecretShelf, Pick<Vault, 'keyIds'>, Pick<SharedPairs, 'update'> {
  readonly installed: InstalledNames
}

/** The sealed secrets alone, for commands. The store stays open until `close`. */
export async function openShelf(config: Config): Promise<SecretShelf & { readonly close: () => Promise<void> }> {
  const store = await open(config, { upgrade: false })
  try {
    const vault = await Vault.open({ store, file: config.storeKeyFile, now: systemClock.now })
    return {
      read: (name) => vault.read(name),
      change: (name, next) => vault.change(name, next),
      putOnce: (name, text) => vault.putOnce(name, text),
      close: () => store.close(),
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Issued pairs that are only in the state folder are put into the store, and those of other instances into the folder. */
export async function openSecrets({ storeKeyFile, stateDir }: Config, store: Store, { now }: Clock): Promise<Secrets> {
  const vault = await Vault.open({ store, file: storeKeyFile, now })
  const installed = new InstalledNames()
  const pairs = new SharedPairs({ stateDir, store, vault, now, installed })
  await pairs.update()
  return {
    read: (name) => vault.read(name),
    put: (name, text) => vault.put(name, text),
    change: (name, next) => vault.change(name, next),
    putOnce: (name, text) => vault.putOnce(name, text),
    drop: (name) => vault.drop(name),
    keyIds: () => vault.keyIds(),
    publish: (firstName, pair) => pairs.publish(firstName, pair),
    update: () => pairs.update(),
    installed,
  }
}
