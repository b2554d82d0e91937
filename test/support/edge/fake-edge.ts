import { X509Certificate } from 'node:crypto'
import type { Change, ChangeItem, HostVerdict } from '../../../src/edge/contract/change.ts'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import type { ListedHost } from '../../../src/edge/contract/list.ts'
import type { EdgeAnswer } from '../../../src/edge/contract/visit.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { areEqual, certificateId, revisionOf } from '../../../src/edge/record/entry.ts'
import type { StrayLines } from '../../../src/model/host-status.ts'
import type { HostFence } from '../../../src/model/run.ts'
import { entryOf } from './edge.ts'

interface Standing {
  readonly entry: Entry
  /** Somebody has edited it. */
  readonly isEdited: boolean
}

/** A stand-in for an edge that has entries and no proxy. It decides as an edge does: see test/contract/edge.test.ts. */
export class FakeEdge {
  readonly server: string
  readonly standing = new Map<string, Standing>()
  /** Those that were shown, the newest last. */
  readonly fences: HostFence[] = []
  /** What stood in each generation, and before each run. */
  readonly #former = new Map<number | string, ReadonlyMap<string, Standing>>()
  readonly certificates = new Set<string>()
  changes = 0
  /** Why it takes no change. */
  fault: EdgeFault | undefined
  /** Hosts that it takes nothing for. */
  readonly refuses = new Set<string>()
  mostItems = 0
  beforeRun = async (): Promise<void> => undefined
  readonly stray: StrayLines[] = []
  answer: EdgeAnswer = { kind: 'no_answer', reason: 'unknown_host' }
  ask: Edge['ask'] = async () => this.answer

  constructor(server: string) {
    this.server = server
  }

  put(host: string, planId: string, certificate: string | null = null): void {
    const entry = { ...entryOf({ host, planId, target: 'http://127.0.0.1:9', proof: '0'.repeat(64) }), certificate }
    this.standing.set(host, { entry, isEdited: false })
  }

  /** Somebody edits what stands for a host. */
  edit(host: string): void {
    const now = this.standing.get(host)
    if (!now) throw new Error(`${host} is not there.`)
    this.standing.set(host, { ...now, isEdited: true })
  }

  planOf(host: string): string | undefined {
    return this.standing.get(host)?.entry.plan
  }

  get hosts(): string[] {
    return [...this.standing.keys()]
  }

  get edge(): Edge {
    const { server } = this
    const standIn: Partial<Edge> = {
      server,
      prepare: async () => undefined,
      assertValid: () => this.beforeRun(),
      ask: (question) => this.ask(question),
      list: async (hosts = this.hosts) => ({
        generation: String(this.changes),
        number: this.changes,
        hosts: hosts.map((host) => this.#listed(host)),
        stray: [...this.stray],
      }),
      hasCertificate: async (id) => this.certificates.has(id),
      certificate: async ({ certificatePem }) => {
        const id = certificateId(new X509Certificate(certificatePem).fingerprint256)
        this.certificates.add(id)
        return id
      },
      unsettledRuns: async () => [],
      change: async (change) => {
        if (this.fault) throw this.fault
        return this.#change(change)
      },
    }
    return standIn as Edge
  }

  #listed(host: string): ListedHost {
    const now = this.standing.get(host)
    const place = { file: `/edge/${this.server}`, line: null }
    return {
      ...{ host, fence: this.#fenceOf(host) ?? null, ...place },
      entry: now?.entry ?? null,
      revision: now ? revision(now) : null,
      drift: now?.isEdited ? [{ field: 'backend', found: 'http://192.0.2.1:1', ...place }] : [],
    }
  }

  #fenceOf(host: string): HostFence | undefined {
    return this.fences.findLast((one) => one.host === host)
  }

  #change({ items, run }: Change): readonly HostVerdict[] {
    this.mostItems = Math.max(this.mostItems, items.length)
    const before = new Map(this.standing)
    const refusals = new Map(items.flatMap((item) => this.#refusal(item, run?.run) ?? []))
    const accepted = items.filter(({ host }) => !refusals.has(host))
    for (const { fence } of accepted) this.#assertNewest(fence)
    for (const item of accepted) {
      this.fences.push(item.fence)
      this.#make(item, run?.run)
    }
    if (accepted.some(({ wanted }) => wanted !== 'same')) {
      this.#former.set(this.changes, before)
      if (run && !this.#former.has(run.run)) this.#former.set(run.run, before)
      this.changes += 1
    }
    return items.map(({ host }): HostVerdict => {
      const fault = refusals.get(host)
      if (fault) return { host, state: 'refused', fault }
      const now = this.standing.get(host)
      return { host, state: 'serving', generation: this.changes, revision: now ? revision(now) : '' }
    })
  }

  #assertNewest({ host, epoch, number }: HostFence): void {
    const known = this.#fenceOf(host)
    if (known && (known.epoch > epoch || (known.epoch === epoch && known.number > number)))
      throw new EdgeFault('fenced', `A newer run has changed ${host}. This run stops and undoes nothing.`)
  }

  #refusal({ host, expected, wanted, mend }: ChangeItem, run: string | undefined): [[string, EdgeFault]] | undefined {
    const now = this.standing.get(host)
    const refused = (kind: EdgeFault['kind']): [[string, EdgeFault]] => [
      [host, new EdgeFault(kind, `${host} on edge ${this.server} is refused: ${kind}.`)],
    ]
    if (this.refuses.has(host)) return refused('change_invalid')
    if (wanted === 'same') return undefined
    if (wanted === 'before') {
      const then = this.#former.get(run ?? '')
      return then && now?.isEdited && then.get(host) !== now ? refused('changed_elsewhere') : undefined
    }
    const isEntry = typeof wanted === 'object' && 'host' in wanted
    const isMade = isEntry ? now && !now.isEdited && areEqual(now.entry, wanted) : wanted === 'absent' && !now
    if (isMade) return undefined
    if (expected === 'absent' && now) return refused('changed_meanwhile')
    if (typeof expected === 'object' && (!now || revision(now) !== expected.revision))
      return refused(now?.isEdited ? 'changed_elsewhere' : 'changed_meanwhile')
    if (now?.isEdited && !mend) return refused('changed_elsewhere')
    if (
      typeof wanted === 'object' &&
      'asIn' in wanted &&
      !this.#former.has(wanted.asIn) &&
      wanted.asIn !== this.changes
    )
      return refused('change_invalid')
    return undefined
  }

  #make({ host, wanted }: ChangeItem, run: string | undefined): void {
    const put = (standing: Standing | undefined) =>
      standing ? this.standing.set(host, standing) : this.standing.delete(host)
    if (wanted === 'absent') put(undefined)
    else if (wanted === 'before') {
      const then = this.#former.get(run ?? '')
      if (then) put(then.get(host))
    } else if (typeof wanted === 'object' && 'asIn' in wanted)
      put((this.#former.get(wanted.asIn) ?? this.standing).get(host))
    else if (typeof wanted === 'object') put({ entry: wanted, isEdited: false })
  }
}

const revision = ({ entry, isEdited }: Standing): string => revisionOf(entry, String(isEdited))
