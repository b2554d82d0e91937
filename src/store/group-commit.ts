import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import type { Clock } from '../primitives/clock.ts'
import type { Schema } from './schema.ts'

type Work<T> = (transaction: Transaction<Schema>) => Promise<T>

/**
 * A group accepts this many members, and then further ones until this time is over. Reads wait for the same connection until
 * the group is committed, and SQLite blocks the event loop for that long.
 */
const OPEN_FOR = { members: 8, ms: 5 }

const SAVEPOINT = CompiledQuery.raw('savepoint member')
const ROLLBACK = CompiledQuery.raw('rollback to member')
const RELEASE = CompiledQuery.raw('release member')

/**
 * Commits all work that waits at the same moment in one database transaction, so that it waits for the disk once. Work
 * starts at once when nothing is running.
 *
 * Members of a group run one after the other in the order of the calls, each in a savepoint: one that fails is rolled back
 * alone. A call settles after the commit. If the transaction cannot begin, continue or commit, all members that did not
 * fail by themselves reject with the reason.
 */
export class GroupCommit {
  readonly #db: Kysely<Schema>
  readonly #clock: Clock
  readonly #waiting: Member[] = []
  #isRunning = false

  constructor(db: Kysely<Schema>, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  run<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(new Member(work, resolve as (result: unknown) => void, reject))
      if (!this.#isRunning) void this.#runGroups()
    })
  }

  async #runGroups(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) await this.#runGroup()
    this.#isRunning = false
  }

  /** Never rejects: every member learns its own outcome. */
  async #runGroup(): Promise<void> {
    const waited = this.#waiting.length
    const group: Member[] = []
    try {
      await this.#db.transaction().execute(async (transaction) => {
        const end = this.#clock.monotonic() + OPEN_FOR.ms
        while (group.length < OPEN_FOR.members || this.#clock.monotonic() < end) {
          const next = this.#waiting.shift()
          if (!next) break
          group.push(next)
          await next.run(transaction)
        }
      })
    } catch (fault) {
      // Without a member the transaction could not begin. Members that came during the attempt get an attempt of their own.
      for (const member of group.length > 0 ? group : this.#waiting.splice(0, waited)) member.rolledBack(fault)
      return
    }
    for (const member of group) member.committed()
  }
}

class Member {
  readonly #work: Work<unknown>
  readonly #resolve: (result: unknown) => void
  readonly #reject: (error: unknown) => void
  #outcome: { readonly result: unknown } | { readonly error: unknown } | undefined

  constructor(work: Work<unknown>, resolve: (result: unknown) => void, reject: (error: unknown) => void) {
    this.#work = work
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Resolves also when the work failed. Rejects when the transaction cannot continue. */
  async run(transaction: Transaction<Schema>): Promise<void> {
    await transaction.executeQuery(SAVEPOINT)
    try {
      const result = await this.#work(transaction)
      await transaction.executeQuery(RELEASE)
      this.#outcome = { result }
    } catch (error) {
      this.#outcome = { error }
      // Fails after a lost connection, or when the database has rolled back by itself, for example because the disk is full.
      await transaction.executeQuery(ROLLBACK)
      await transaction.executeQuery(RELEASE)
    }
  }

  committed(): void {
    if (this.#outcome && 'result' in this.#outcome) this.#resolve(this.#outcome.result)
    else this.#reject(this.#outcome?.error)
  }

  rolledBack(fault: unknown): void {
    this.#reject(this.#outcome && 'error' in this.#outcome ? this.#outcome.error : fault)
  }
}
