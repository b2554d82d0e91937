import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { LabDescription } from '../lab/description.ts'
import type { Lab } from '../lab/lab.ts'
import type { ServiceConfig } from '../lab/service-config.ts'
import { rfc2136Provider } from '../src/dns/rfc2136.ts'
import { isIdle, isServing, masterPid, servingWorkers } from '../src/edge/process/nginx-workers.ts'
import { Caller } from './caller.ts'
import { formatMs, type Samples, summarize, timed } from './measure.ts'
import { makeWildcard } from './wildcard.ts'

const ROUNDS = 25
const WARM_UP = 20
const NEIGHBOURS = 10
const MOST_RATIO = 1.3

const run = promisify(execFile)

/**
 * Compares a whole apply with TLS (by a wildcard certificate) with the minimal work on one edge, in alternation: first with
 * both edges, then on the Primary alone.
 */
export async function benchApply(lab: Lab): Promise<void> {
  await makeWildcard(lab.description.zone, join(lab.state, 'certificates'))
  const both = await measure(lab, 'both edges')
  await lab.restartService(withoutSecondary)
  const alone = await measure(lab, 'the Primary alone')
  process.exitCode = Math.max(both, alone) <= MOST_RATIO ? 0 : 1
}

function withoutSecondary(config: ServiceConfig): ServiceConfig {
  const { servers, edges } = config as { servers: object; edges: Record<string, unknown> }
  return { ...config, servers: { ...servers, secondary: 'none' }, edges: { 23: edges['23'] } }
}

async function measure({ description: lab }: Lab, what: 'both edges' | 'the Primary alone'): Promise<number> {
  const caller = new Caller(lab)
  const prefix = what === 'both edges' ? 'both' : 'alone'
  const floor = floorOf(lab)
  const neighbours = await exposeNeighbours(caller, lab, prefix)
  const samples = { apply: [] as number[], floor: [] as number[] }
  const steps = new Map<string, number[]>()
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const exposure = await planned(caller, lab, `${prefix}-${round + WARM_UP}`)
    await atRest(lab)
    const apply = await timed(async () => {
      const { steps: reports } = await exposure.apply()
      for (const { name, ms } of round < 0 ? [] : reports) steps.set(name, [...(steps.get(name) ?? []), ms])
    })
    await exposure.remove()
    await atRest(lab)
    const bare = await timed(() => floor(`${prefix}-floor-${round + WARM_UP}`))
    if (round < 0) continue
    samples.apply.push(apply)
    samples.floor.push(bare)
  }
  for (const neighbour of neighbours) await neighbour.remove()
  caller.close()
  return report(what, steps, summarize(samples.apply), summarize(samples.floor))
}

async function exposeNeighbours(caller: Caller, lab: LabDescription, prefix: string) {
  const neighbours = []
  for (let i = 0; i < NEIGHBOURS; i += 1) {
    const neighbour = await planned(caller, lab, `${prefix}-neighbour-${i}`)
    await neighbour.apply()
    neighbours.push(neighbour)
  }
  return neighbours
}

function report(what: string, steps: ReadonlyMap<string, number[]>, apply: Samples, floor: Samples): number {
  const say = (text: string) => process.stdout.write(`${text}\n`)
  say(`On ${what}:`)
  for (const [name, ms] of steps) say(`    ${name.padEnd(22)} p50 ${formatMs(summarize(ms).p50).padStart(11)}`)
  const rows = { 'a whole apply over HTTP': apply, 'nginx -t, HUP, UPDATE': floor }
  for (const [name, { p50, p95 }] of Object.entries(rows)) {
    say(`  ${name.padEnd(24)} p50 ${formatMs(p50).padStart(11)}   p95 ${formatMs(p95).padStart(11)}`)
  }
  const ratio = apply.p50 / floor.p50
  const wanted = `target: at most ${MOST_RATIO.toFixed(2)}`
  say(`  The p50 of an apply is ${ratio.toFixed(2)} times the minimal work (${wanted}), over ${apply.count} rounds.\n`)
  return ratio
}

async function planned(caller: Caller, { zone }: LabDescription, subdomain: string) {
  const request = { zone, subdomain, server: '25', port: 3000, health: '/healthz', tls: true }
  const { planId } = await caller.post<{ planId: string }>('/api/deploy/plan', request)
  const capabilityFor = async (action: 'apply' | 'remove') => {
    const { capability } = await caller.post<{ capability: string }>('/api/internal/token', { planId, action })
    return { 'x-deploy-capability': capability }
  }
  const toApply = await capabilityFor('apply')
  return {
    apply: () => caller.post<{ steps: { name: string; ms: number }[] }>('/api/deploy/apply', { planId }, toApply),
    remove: async () => caller.post('/api/deploy/remove', { planId }, await capabilityFor('remove')),
  }
}

/** nginx works on a reload for a while after it has replaced its workers. That time must not count for the next sample. */
async function atRest({ edges }: LabDescription): Promise<void> {
  const masters = [edges.primary, edges.secondary].map(masterOf)
  while (!masters.every(isIdle)) await sleep(1)
}

function masterOf({ pidFile }: LabDescription['edges']['primary']): number {
  const master = masterPid(pidFile)
  if (master === undefined) throw new Error('The nginx of the lab does not run.')
  return master
}

/** The minimal work: test the configuration, reload until the old workers are gone, change the zone. */
function floorOf({ edges, dns, zone }: LabDescription): (label: string) => Promise<void> {
  const { name, algorithm, secretFile } = dns.tsig
  const secret = readFileSync(secretFile, 'utf8').trim()
  const key = { name, algorithm: algorithm as 'hmac-sha256', secret }
  const provider = rfc2136Provider({ zone, primary: dns.primary, key })
  return async (label) => {
    await bareReload(edges.primary)
    await provider.create([{ name: `${label}.${zone}`, type: 'A', ttl: 60, value: edges.primary.address }])
  }
}

async function bareReload(edge: LabDescription['edges']['primary']): Promise<void> {
  await run('nginx', ['-t', '-q', '-p', edge.prefix, '-c', edge.config])
  const master = masterOf(edge)
  const former = servingWorkers(master)
  process.kill(master, 'SIGHUP')
  while (former.some(isServing)) await sleep(1)
}
