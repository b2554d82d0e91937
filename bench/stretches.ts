import type { Lab } from '../lab/lab.ts'
import { statePaths } from '../lab/state.ts'
import { masterPid, servingWorkers } from '../src/edge/process/nginx-workers.ts'
import { askForDuties } from '../src/operate/control/client.ts'
import type { DutyName } from '../src/runs/duties.ts'
import { onLab, startService } from './bench-lab.ts'
import { loopProbe, takeLateness } from './loop-lateness.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'
import { makeWildcard } from './wildcard.ts'

const MOST_MS = 50

/** The longest stretch for which work on many hosts keeps the event loop of the service, on SQLite. */
export function benchStretches({ stretches: { hosts } }: Sizes): Promise<Row[]> {
  return onLab({ hosts, tls: 'wildcard', probesLoop: true }, async (lab) => {
    const rows: Row[] = []
    const measured = async (name: string, work: () => Promise<unknown>) => {
      await takeLateness(lab)
      await work()
      const longest = (await takeLateness(lab)).reduce((one, other) => Math.max(one, other), 0)
      rows.push(row(`${hosts} hosts: ${name}`, 'ms', longest, { most: MOST_MS }))
    }
    const secondary = stoppedSecondary(lab)
    try {
      await perform(lab, 'converge', 0)
      await measured('a renewal of their wildcard certificate', async () => {
        await makeWildcard(lab.description.zone, statePaths(lab.state).certificates)
        await perform(lab, 'renew', hosts)
      })
    } finally {
      // A stopped process cannot be ended with the lab.
      secondary.goOn()
    }
    await measured('a converge after the return of the Secondary', () => perform(lab, 'converge', hosts))
    lab.setNextServiceEnvironment(loopProbe(lab))
    // All entries are written anew, as after an upgrade that writes them otherwise. Not waiting for the first checks: it has begun.
    await startService(lab, 0, (config) => ({ ...config, edges: inBlocks(config.edges) }))
    await measured('a converge after an upgrade', () => perform(lab, 'converge', 0))
    return rows
  })
}

/** Rejects if the duty has changed fewer hosts. */
async function perform({ state }: Lab, duty: DutyName, changes: number): Promise<void> {
  const [report] = await askForDuties(statePaths(state).service, [duty])
  if ((report?.changed ?? 0) < changes) throw new Error(`${duty}: ${report?.sentence}`)
}

const inBlocks = (edges: unknown) =>
  Object.fromEntries(
    Object.entries(edges as Record<string, object>).map(([id, edge]) => [id, { ...edge, layout: 'blocks' }]),
  )

/** Stops the nginx of the Secondary: it answers nobody until it goes on. */
function stoppedSecondary({ description }: Lab): { goOn(): void } {
  const master = masterPid(description.edges.secondary.pidFile)
  if (master === undefined) throw new Error('The nginx of the Secondary does not run.')
  const all = [master, ...servingWorkers(master)]
  for (const pid of all) process.kill(pid, 'SIGSTOP')
  return {
    goOn: () => {
      for (const pid of all) process.kill(pid, 'SIGCONT')
    },
  }
}
