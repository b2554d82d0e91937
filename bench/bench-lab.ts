import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Lab, startLab } from '../lab/lab.ts'
import type { ServiceConfig } from '../lab/service-config.ts'
import { statePaths } from '../lab/state.ts'
import { Caller } from './caller.ts'
import { loopProbe } from './loop-lateness.ts'
import { BENCH_PLACE } from './place.ts'
import { type SeedOptions, seedHosts, seedRecords } from './seed.ts'
import { makeWildcard } from './wildcard.ts'

const CHECKED_WITHIN_MS = 60_000
const MORE_PER_HOST_MS = 30

/** The default of the product, not the shorter interval of the lab. */
export const EVERY_SECONDS = 30

export interface BenchLab extends SeedOptions {
  /** How many hosts are there before anything is measured. */
  readonly hosts: number
  /** False: start everything except the service. */
  readonly service?: boolean
  /** True: the service measures how late its event loop is, which costs a little processor time. */
  readonly probesLoop?: boolean
}

/** The lab that the last part has left running. */
let kept: { readonly options: BenchLab; readonly lab: Lab; readonly close: () => Promise<void> } | undefined

/** Runs `work` on a lab with many hosts and a wildcard certificate, and removes it afterwards. Nothing in it is due when `work` begins. */
export async function onLab<T>(options: BenchLab, work: (lab: Lab) => Promise<T>): Promise<T> {
  return onKeptLab(options, work).finally(closeLab)
}

/**
 * The same, but the lab goes on running for the next part with the same options: to start one with 10,000 hosts takes a minute.
 * For work that leaves the hosts as it found them.
 */
export async function onKeptLab<T>(options: BenchLab, work: (lab: Lab) => Promise<T>): Promise<T> {
  if (!kept || !isDeepStrictEqual(kept.options, options)) {
    await closeLab()
    kept = { options, ...(await start(options)) }
  }
  return work(kept.lab)
}

/** Stops and removes the lab that was left running. */
export async function closeLab(): Promise<void> {
  const last = kept
  kept = undefined
  await last?.close()
}

async function start(options: BenchLab): Promise<{ readonly lab: Lab; readonly close: () => Promise<void> }> {
  const { folder: state, remove } = makeFolder()
  const lab = await startLab({ state, place: BENCH_PLACE, service: false, records: seedRecords(options.hosts) })
  const close = async () => {
    await lab.stop()
    remove()
  }
  try {
    await makeWildcard(lab.description.zone, statePaths(state).certificates)
    await seedHosts(lab, options.hosts, options)
    if (options.probesLoop) lab.setNextServiceEnvironment(loopProbe(lab))
    if (options.service !== false) await startService(lab, options.hosts)
    return { lab, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts or restarts the service. Resolves when it has checked every host once. */
export async function startService(
  lab: Lab,
  hosts: number,
  change: (config: ServiceConfig) => ServiceConfig = (config) => config,
): Promise<void> {
  await lab.restartService((config) => change(benchConfig(config)))
  await firstChecks(lab, hosts)
}

/** One address makes all the calls, so its budgets must not end. */
export function benchConfig(config: ServiceConfig): ServiceConfig {
  const budget = { plan: 1_000_000, diagnose: 1_000_000, read: 1_000_000 }
  return { ...config, monitor: { everySeconds: EVERY_SECONDS }, rateLimits: { internal: budget } }
}

async function firstChecks({ description }: Lab, hosts: number): Promise<void> {
  const caller = new Caller(description)
  const withinMs = CHECKED_WITHIN_MS + MORE_PER_HOST_MS * hosts
  const giveUpAt = Date.now() + withinMs
  let counts: Record<string, number> | undefined
  while (counts?.RUNNING !== hosts && hosts > 0) {
    if (Date.now() > giveUpAt)
      throw new Error(`After ${withinMs / 1000} s the badges of ${hosts} hosts are ${JSON.stringify(counts)}.`)
    await sleep(100)
    // During the first checks the service can be too busy to answer.
    counts = await caller
      .get<{ counts: Record<string, number> }>('/api/hosts?limit=1')
      .then((answer) => answer.counts)
      .catch(() => counts)
  }
  caller.close()
}

/** Removes the folder afterwards, also when the process exits meanwhile. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const { folder, remove } = makeFolder()
  try {
    return await work(folder)
  } finally {
    remove()
  }
}

function makeFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-bench-'))
  const removeNow = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeNow)
  return {
    folder,
    remove: () => {
      process.off('exit', removeNow)
      removeNow()
    },
  }
}
