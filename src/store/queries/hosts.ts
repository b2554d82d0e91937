import type { Kysely } from 'kysely'
import { type HistorySlot, historyText, parseHistory } from '../../model/history.ts'
import type { HostStatus, Mute } from '../../model/host-status.ts'
import type { Clock } from '../../primitives/clock.ts'
import { Slices } from '../../primitives/slices.ts'
import type { HostStore } from '../ports/hosts.ts'
import type { HostRow, Schema } from '../schema.ts'

/** Both engines limit the number of values in one statement. */
const BATCH_SIZE = 400

export const hostsIn = (db: Kysely<Schema>, clock: Clock): HostStore => ({
  ...statusesIn(db, clock),
  ...mutesIn(db),
  ...historyIn(db),
})

type Statuses = Pick<HostStore, 'putHosts' | 'deleteHosts' | 'readHosts' | 'hostsSummary'>

const statusesIn = (db: Kysely<Schema>, clock: Clock): Statuses => ({
  async putHosts(statuses, version) {
    for (const some of batches(statuses)) {
      await db
        .insertInto('hosts')
        .values(some.map((status) => toRow(status, version)))
        .onConflict((conflict) =>
          conflict.column('host').doUpdateSet((eb) => ({
            version: eb.ref('excluded.version'),
            changed: eb.ref('excluded.changed'),
            badge: eb.ref('excluded.badge'),
            since: eb.ref('excluded.since'),
            status: eb.ref('excluded.status'),
            history: eb.ref('excluded.history'),
          })),
        )
        .execute()
    }
  },

  async deleteHosts(hosts) {
    for (const some of batches(hosts)) await db.deleteFrom('hosts').where('host', 'in', some).execute()
  },

  async readHosts(afterVersion) {
    const rows = await db
      .selectFrom('hosts')
      .selectAll()
      .where('version', '>', afterVersion)
      .orderBy('version')
      .orderBy('host')
      .execute()
    const slices = new Slices(clock)
    const statuses: HostStatus[] = []
    for (const row of rows) {
      if (slices.isOver) await slices.next()
      statuses.push(toStatus(row))
    }
    return statuses
  },

  async hostsSummary() {
    const { count, version } = await db
      .selectFrom('hosts')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('version').as('version')])
      .executeTakeFirstOrThrow()
    return { count: Number(count), version: version ?? 0 }
  },
})

const mutesIn = (db: Kysely<Schema>): Pick<HostStore, 'putMute' | 'deleteMute' | 'readMutes'> => ({
  async putMute(host, { since, until, by, note }) {
    const row = { since, until, muted_by: by, note: note ?? null }
    await db
      .insertInto('mutes')
      .values({ host, ...row })
      .onConflict((conflict) => conflict.column('host').doUpdateSet(row))
      .execute()
  },

  async deleteMute(host, endedBy) {
    const named = db.deleteFrom('mutes').where('host', '=', host)
    const ended = endedBy === undefined ? named : named.where('until', '<=', endedBy)
    return (await ended.executeTakeFirst()).numDeletedRows > 0n
  },

  async readMutes() {
    const rows = await db.selectFrom('mutes').selectAll().execute()
    return new Map(
      rows.map(({ host, since, until, muted_by: by, note }): [string, Mute] => [
        host,
        { since, until, by, ...(note !== null && { note }) },
      ]),
    )
  },
})

const historyIn = (db: Kysely<Schema>): Pick<HostStore, 'addHistory' | 'readHistory'> => ({
  async addHistory(slots) {
    for (const some of batches(slots)) {
      await db
        .insertInto('host_history')
        .values(some.map(({ latencyTotal, ...slot }) => ({ ...slot, latency_total: latencyTotal })))
        .onConflict((conflict) =>
          conflict.columns(['host', 'slot']).doUpdateSet((eb) => ({
            checks: eb('host_history.checks', '+', eb.ref('excluded.checks')),
            succeeded: eb('host_history.succeeded', '+', eb.ref('excluded.succeeded')),
            answers: eb('host_history.answers', '+', eb.ref('excluded.answers')),
            latency_total: eb('host_history.latency_total', '+', eb.ref('excluded.latency_total')),
          })),
        )
        .execute()
    }
  },

  async readHistory(host, from) {
    const rows = await db
      .selectFrom('host_history')
      .selectAll()
      .where('host', '=', host)
      .where('slot', '>=', from)
      .where('slot', '<', `${from.slice(0, 1)}z`)
      .orderBy('slot')
      .execute()
    return rows.map(({ latency_total, ...slot }): HistorySlot => ({ ...slot, latencyTotal: latency_total }))
  },
})

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH_SIZE) }, (_, i) =>
    all.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE),
  )
}

/** `door` and `sightings` are the stored names of two members: rows of version 0.1 must stay readable. */
const toRow = (
  { host, changed, badge, since, history, listenAddress, fullCheck, mute: _ofBoard, ...status }: HostStatus,
  version: number,
): HostRow => ({
  host,
  version,
  changed,
  badge,
  since,
  status: JSON.stringify({ ...status, door: listenAddress, sightings: fullCheck }),
  history: historyText(history),
})

const toStatus = ({ host, changed, badge, since, history, status }: HostRow): HostStatus => {
  const { door, sightings, ...stored } = JSON.parse(status)
  return {
    ...stored,
    listenAddress: door,
    fullCheck: sightings,
    host,
    changed,
    badge,
    since,
    history: parseHistory(history),
  }
}
