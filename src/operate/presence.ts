import type { Clock } from '../primitives/clock.ts'
import { poll } from '../primitives/retry.ts'
import type { Claim } from '../runtime/instance.ts'
import type { Log } from '../runtime/log.ts'
import type { Instance, InstanceStore } from '../store/ports/instances.ts'

export interface PresenceParts {
  readonly store: InstanceStore
  readonly claim: Pick<Claim, 'name' | 'process' | 'former'>
  readonly stateDir: string
  readonly address: string
  readonly version: string
  /** The servers whose edges this instance can change now. */
  readonly edges: () => Promise<readonly string[]>
  /** The ids of the keys that this instance has now. */
  readonly keys: () => readonly string[]
  /** How long an instance counts as alive after its last sign of life. */
  readonly lifeMs: number
  readonly log: Log
  readonly clock: Clock
}

const RETRY_MS = 200

/**
 * Announces this instance periodically on a shared store. Two services with the same name, such as from copies of a state folder,
 * would take each other's leases: the second one is refused, and one that lost its name ends.
 */
export class Presence {
  readonly #parts: PresenceParts
  readonly #startedAt: number
  readonly #ended = new AbortController()
  #announcing: Promise<void> = Promise.resolve()

  constructor(parts: PresenceParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.now()
  }

  /**
   * Waits as long as a process that died under this name may count as alive. Rejects if another one still does. `onLost` is called
   * once, when another process has taken the name.
   */
  async begin(onLost: () => void): Promise<void> {
    const { lifeMs, claim, clock } = this.#parts
    const end = clock.monotonic() + 1.5 * lifeMs
    while (!(await this.#announce(claim.former))) {
      if (clock.monotonic() > end) throw await this.#refusal()
      await clock.sleep(RETRY_MS)
    }
    this.#announcing = this.#goOn(onLost)
  }

  async stop(): Promise<void> {
    const { store, claim } = this.#parts
    this.#ended.abort()
    await this.#announcing
    await store.withdrawInstance(claim.name, claim.process).catch(() => undefined)
  }

  async #goOn(onLost: () => void): Promise<void> {
    const { lifeMs, log, claim, clock } = this.#parts
    const { signal } = this.#ended
    while (!signal.aborted) {
      await clock.sleep(lifeMs / 4, { signal })
      if (signal.aborted) return
      // If the store does not answer, the state of the name is unknown.
      if (await this.#announce().catch(() => true)) continue
      log.error(
        { event: 'instance_name_taken', instance: claim.name },
        'Another process runs under the name of this instance; this one ends.',
      )
      onLost()
      return
    }
  }

  async #announce(former?: string): Promise<boolean> {
    const { store, claim, address, version, edges, keys, lifeMs, clock } = this.#parts
    const { name, process } = claim
    const about = { name, process, address, version, edges: await edges(), keys: keys(), startedAt: this.#startedAt }
    return store.announceInstance(about, clock.now(), lifeMs, former)
  }

  async #refusal(): Promise<Error> {
    const { store, claim, stateDir, clock } = this.#parts
    const alive = await store.liveInstances(clock.now())
    const other: Instance | undefined = alive.find(({ name }) => name === claim.name)
    return new Error(
      `The name ${claim.name}, which the state folder ${stateDir} has, belongs to a service that runs at ` +
        `${other?.address ?? 'another address'}: one of the two folders is a copy of the other. ` +
        `Remove instance.json from the copy, and its service gets a name of its own.`,
    )
  }
}

/**
 * Resolves when every running instance has the key: a service reads a changed key file by itself and announces it. Rejects with a
 * sentence that names those that have not after `withinMs`.
 */
export async function untilKeyIsShared(
  store: Pick<InstanceStore, 'liveInstances'>,
  keyId: string,
  file: string,
  { withinMs, clock }: { readonly withinMs: number; readonly clock: Clock },
): Promise<void> {
  const lacking = await poll(
    async () => (await store.liveInstances(clock.now())).filter(({ keys }) => !keys.includes(keyId)),
    (instances) => instances.length === 0,
    { firstMs: RETRY_MS, withinMs, clock },
  )
  if (lacking.length === 0) return
  const addresses = lacking.map(({ address }) => address).join(', ')
  throw new Error(
    `The new key ${keyId} is in ${file}, but these instances do not have it yet: ${addresses}. Nothing was sealed with it. ` +
      'Copy the file to their storeKeyFile, with mode 0600 and their owner, and run this command again.',
  )
}
