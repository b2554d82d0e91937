import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../lab/lab.ts'
import { statePaths } from '../lab/state.ts'
import { masterPid, servingWorkers } from '../src/nginx/process/nginx-workers.ts'
import { askForDuties } from '../src/operate/control/client.ts'
import { onLab, startService } from './bench-lab.ts'
import { loopProbe, takeLateness } from './loop-lateness.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'
import { makeWildcard } from './wildcard.ts'

const MOST_MS = 50
/** Work that makes no progress for this long has failed. */
const STUCK_MS = 900_000

/** The longest stretch for which work on many hosts keeps the event loop of the service, on SQLite. */
export function benchStretches({ stretches: { hosts } }: Sizes): Promise<Row[]> {
  return onLab({ hosts, tls: 'wildcard', probesLoop: true }, async (lab) => {
    const rows: Row[] = []
    const measured = async (name: string, work: () => Promise<unknown>) => {
      await takeLateness(lab)
      await work()
      const longest = (await takeLateness(lab)).reduce((one, other) => Math.max(one, other), 0)
      rows.push(row(`${hosts} hosts: ${name}`, 'ms', longest, { most: MOST_MS }))
      // The whole part takes long, and a later measure may fail.
      process.stderr.write(`${name}: ${longest.toFixed(1)} ms\n`)
    }
    const secondary = stoppedSecondary(lab)
    try {
      await perform(lab, 'converge')
      await measured('a renewal of their wildcard certificate', async () => {
        await makeWildcard(lab.description.zone, statePaths(lab.state).certificates)
        await untilChanged(lab, ['renew'], hosts)
      })
      await measured('a converge after the return of the Secondary', async () => {
        // A renewal tries again for an edge that lags, and may be there first.
        const before = changedBy(lab, DUTIES)
        secondary.goOn()
        await untilChanged(lab, DUTIES, before + hosts)
      })
    } finally {
      // A stopped process cannot be ended with the lab.
      secondary.goOn()
    }
    lab.setNextServiceEnvironment(loopProbe(lab))
    // The texts of all entries are written anew, as by a version that writes them otherwise.
    await startService(lab, 0, (config) => ({ ...config, edges: alsoListening(lab, config.edges) }))
    await measured('the first look after an upgrade', () => perform(lab, 'converge'))
    return rows
  })
}

const DUTIES = ['renew', 'converge'] as const
type Duty = (typeof DUTIES)[number]

/** The service may do the work by itself, or longer than it lets a caller wait, so what counts is what the audit says. */
async function untilChanged(lab: Lab, duties: readonly Duty[], hosts: number): Promise<void> {
  let last = { hosts: changedBy(lab, duties), at: performance.now() }
  while (last.hosts < hosts) {
    const sentence = await perform(lab, duties.at(-1) ?? 'converge')
    const now = { hosts: changedBy(lab, duties), at: performance.now() }
    if (now.hosts > last.hosts) last = now
    else if (now.at - last.at > STUCK_MS)
      throw new Error(`${sentence} Only ${now.hosts} of ${hosts} hosts were changed. ${lastFault(lab)}`)
    // A run of another duty may hold the hosts.
    else await sleep(1_000)
  }
}

interface Audited {
  readonly outcome: string
  readonly facts?: { readonly hosts?: number }
}

/** How many times these duties have changed a host on an edge since the beginning. */
function changedBy({ state }: Lab, duties: readonly Duty[]): number {
  using database = new DatabaseSync(join(statePaths(state).service, 'drawbridge.db'), { readOnly: true })
  const lines = duties.flatMap((duty) => database.prepare('select entry from audit_lines where action = ?').all(duty))
  const entries = lines.map(({ entry }) => JSON.parse(String(entry)) as Audited)
  return entries.reduce((sum, { outcome, facts }) => sum + (outcome === 'ok' ? (facts?.hosts ?? 0) : 0), 0)
}

async function perform({ state }: Lab, duty: Duty): Promise<string> {
  const [report] = await askForDuties(statePaths(state).service, [duty])
  return report?.sentence ?? ''
}

const lastFault = ({ state }: Lab): string =>
  readFileSync(statePaths(state).log, 'utf8').split('\n').findLast(isFault) ?? 'The log has no fault.'

/** Whether a line of the log has the level of a warning or a higher one. */
const isFault = (line: string): boolean => /"level":"?(40|50|60|warn|error|fatal)\b/.test(line)

function alsoListening({ description }: Lab, edges: unknown) {
  const { primary, secondary } = description.edges
  const listen = (server: string) => {
    const { address } = server === primary.server ? primary : secondary
    return [address, address.replace(/\d+$/, (last) => String(Number(last) + 1))]
  }
  return Object.fromEntries(
    Object.entries(edges as Record<string, object>).map(([id, edge]) => [id, { ...edge, listen: listen(id) }]),
  )
}

/** Stops the nginx of the Secondary: it answers nobody until it goes on. */
function stoppedSecondary({ description }: Lab): { goOn(): void } {
  const master = masterPid(description.edges.secondary.pidFile)
  if (master === undefined) throw new Error('The nginx of the Secondary does not run.')
  const all = [master, ...servingWorkers(master)]
  for (const pid of all) process.kill(pid, 'SIGSTOP')
  return {
    // Repeated, it does nothing: after a reload its workers are others.
    goOn: () => {
      for (const pid of all.splice(0)) process.kill(pid, 'SIGCONT')
    },
  }
}
