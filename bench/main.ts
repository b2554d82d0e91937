import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lab, type LabOptions, startLab } from '../lab/lab.ts'
import { benchApply } from './apply.ts'
import { benchMonitor, monitorLab } from './monitor.ts'
import { benchPage } from './page.ts'
import { BENCH_PLACE } from './place.ts'
import { benchPlan } from './plan.ts'
import { benchReader } from './reader.ts'
import { benchStatus } from './status.ts'

type Bench = (lab: Lab) => Promise<void>

const BENCHES: Record<string, Bench> = {
  plan: benchPlan,
  apply: benchApply,
  monitor: benchMonitor,
  reader: benchReader,
  page: benchPage,
  status: benchStatus,
}

/** More options for the lab of a benchmark. */
const LABS: Record<string, Partial<LabOptions>> = { monitor: monitorLab }

/** `npm run bench -- NAME`: starts a new lab, runs one benchmark on it, and removes the lab. */
const [name = ''] = process.argv.slice(2)
const bench = BENCHES[name]
if (bench) await onOwnLab(bench, LABS[name])
else {
  process.stderr.write(
    `Name a benchmark: npm run bench -- NAME, where NAME is one of ${Object.keys(BENCHES).join(', ')}.\n`,
  )
  process.exitCode = 2
}

async function onOwnLab(work: Bench, options: Partial<LabOptions> = {}): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'drawbridge-bench-'))
  try {
    const lab = await startLab({ ...options, state, place: BENCH_PLACE })
    await work(lab).finally(() => lab.stop())
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}
