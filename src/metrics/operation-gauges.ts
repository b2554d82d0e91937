import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../primitives/clock.ts'

/** The state of this installation, read at scrape time. What cannot be read is left out. */
export interface OperationSources {
  readonly version: string
  /** Runs that have begun and not ended, with the time of their beginning, and the number of those that are blocked. */
  readonly runs: () => Promise<{ readonly unfinishedSince: readonly number[]; readonly blocked: number }>
  /** For each edge whether it is prepared and reached, and whether it is in step with the store. */
  readonly edges: () => Promise<
    readonly { readonly server: string; readonly ready: boolean; readonly inStep: boolean }[]
  >
  /** Certificates whose last renewal failed. */
  readonly failingRenewals: () => Promise<number>
  /** When the certificate authority may be asked again. In the past: now. */
  readonly authorityPausedUntil: () => Promise<number>
  /** For each zone, how many seconds this clock was ahead of its server's at the last update. */
  readonly clockOffsets: () => ReadonlyMap<string, number>
  /** The free bytes of the disk of each folder, by what it is for. */
  readonly freeBytes: () => Promise<Readonly<Record<string, number>>>
  readonly pingStore: () => Promise<void>
  /** When the last backup was made. Undefined before the first. */
  readonly lastBackupAt: () => Promise<number | undefined>
  readonly clock: Clock
}

type Labels = Readonly<Record<string, string>>

/** What an administrator is woken for: see docs/alerts.yaml. */
export function addOperationGauges(registers: Registry[], sources: OperationSources): void {
  const { clock } = sources
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Promise<readonly (readonly [number, Labels?])[]>,
  ) =>
    new Gauge({
      name: `drawbridge_${name}`,
      help,
      labelNames: [...labelNames],
      registers,
      async collect() {
        this.reset()
        // Without the store its values are unknown, and drawbridge_store_up says why.
        for (const [value, labels = {}] of await read().catch(() => [])) this.set(labels, value)
      },
    })
  const secondsSince = (at: number): number => Math.max(0, Math.round((clock.now() - at) / 1000))

  gauge('build_info', 'Always 1. The version of Drawbridge and of Node.', ['version', 'node'], async () => [
    [1, { version: sources.version, node: process.versions.node }],
  ])
  gauge(
    'unfinished_runs',
    'Runs that have not ended, by state. Blocked runs wait for a person.',
    ['state'],
    async () => {
      const { unfinishedSince, blocked } = await sources.runs()
      return [
        [unfinishedSince.length, { state: 'running' }],
        [blocked, { state: 'blocked' }],
      ]
    },
  )
  gauge(
    'oldest_unfinished_run_seconds',
    'Age of the oldest run that has neither ended nor is blocked.',
    [],
    async () => {
      const { unfinishedSince } = await sources.runs()
      return [[unfinishedSince.length === 0 ? 0 : secondsSince(Math.min(...unfinishedSince))]]
    },
  )
  gauge('edge_ready', '1 while an edge is prepared and reached by this instance, else 0.', ['server'], async () =>
    (await sources.edges()).map(({ server, ready }) => [Number(ready), { server }]),
  )
  gauge('edge_in_step', '1 while an edge has what the store says, else 0.', ['server'], async () =>
    (await sources.edges()).map(({ server, inStep }) => [Number(inStep), { server }]),
  )
  gauge('renewals_failing', 'Certificates whose last renewal failed.', [], async () => [
    [await sources.failingRenewals()],
  ])
  gauge(
    'authority_paused_seconds',
    'How long the certificate authority must not be asked. 0: not at all.',
    [],
    async () => [[Math.max(0, Math.round(((await sources.authorityPausedUntil()) - clock.now()) / 1000))]],
  )
  gauge(
    'clock_offset_seconds',
    "How far this clock is ahead of the clock of a zone's server, at the last update.",
    ['zone'],
    async () => [...sources.clockOffsets()].map(([zone, seconds]) => [seconds, { zone }]),
  )
  gauge('disk_free_bytes', 'Free bytes on the disk of a folder, by what it is for.', ['folder'], async () =>
    Object.entries(await sources.freeBytes()).map(([folder, bytes]) => [bytes, { folder }]),
  )
  gauge('store_latency_seconds', 'How long the store took for the smallest question.', [], async () => {
    const started = clock.monotonic()
    await sources.pingStore()
    return [[(clock.monotonic() - started) / 1000]]
  })
  gauge('backup_age_seconds', 'Time since the last backup of the store. Absent before the first.', [], async () => {
    const at = await sources.lastBackupAt()
    return at === undefined ? [] : [[secondsSince(at)]]
  })
}
