import type { AuditTrail } from '../audit/trail.ts'
import type { Caller } from '../authorize/caller.ts'
import { Problem } from '../model/errors.ts'
import type { HostStatus, Mute } from '../model/host-status.ts'
import type { Store } from '../store/ports/store.ts'

interface MutingParts {
  readonly store: Store
  readonly trail: AuditTrail
  readonly board: { find(host: string): HostStatus | undefined }
  /** Makes every read of this instance show the commit before it resolves. */
  readonly publish: (host: string, commit: () => Promise<void>) => Promise<void>
  readonly now: () => number
}

/** How long and why. Without `expiresIn` a host is muted until somebody ends it. */
export interface MuteRequest {
  readonly expiresIn?: number | undefined
  readonly note?: string | undefined
}

/** Silences the trouble of a host, managed or not, and ends the silence. The network alone authorizes it: nothing goes off the air. */
export class Muting {
  readonly #parts: MutingParts

  constructor(parts: MutingParts) {
    this.#parts = parts
  }

  /** Mutes a host that the board has. A later mute replaces the earlier one. */
  async mute(host: string, { expiresIn, note }: MuteRequest, { address: by, network }: Caller): Promise<Mute> {
    const { store, trail, publish, now } = this.#parts
    const { planId } = this.#find(host)
    const since = now()
    const until = expiresIn === undefined ? null : since + expiresIn * 1000
    const mute = { since, until, by, ...(note !== undefined && { note }) }
    const facts = {
      ...(until !== null && { until: new Date(until).toISOString() }),
      ...(note !== undefined && { note }),
    }
    await publish(host, () =>
      store.transaction(async (session) => {
        await session.putMute(host, mute)
        const about = { at: since, host, ...(planId !== null && { planId }) }
        await session.appendEvent({ ...about, type: 'host.muted', facts: { until: null, ...facts, actor: by } })
        await trail.record({ ...about, actor: by, network, action: 'mute', outcome: 'ok', facts }, session)
      }),
    )
    return mute
  }

  /** Ends the mute of a host. Repeatable. Resolves with the mute that is still in force, which is one of the configuration. */
  async unmute(host: string, { address: actor, network }: Caller): Promise<Mute | undefined> {
    const { store, trail, board, publish, now } = this.#parts
    const { planId, mute } = this.#find(host)
    if (mute?.since === null)
      throw new Problem('muted_by_configuration', `The configuration mutes ${host}: no call can end that.`)
    const at = now()
    await publish(host, () =>
      store.transaction(async (session) => {
        if (!(await session.deleteMute(host))) return
        const about = { at, host, ...(planId !== null && { planId }) }
        await session.appendEvent({ ...about, type: 'host.unmuted', facts: { ended: false, actor } })
        await trail.record({ ...about, actor, network, action: 'unmute', outcome: 'ok' }, session)
      }),
    )
    return board.find(host)?.mute
  }

  #find(host: string): HostStatus {
    const status = this.#parts.board.find(host)
    if (!status) throw new Problem('host_not_found', 'The edge does not serve this host.')
    return status
  }
}
