import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { LabDescription } from '../lab/description.ts'
import { rfc2136Provider } from '../src/dns/rfc2136.ts'
import { isServing, masterIn, servingWorkers } from '../src/edge/nginx-workers.ts'
import { Caller } from './caller.ts'
import { formatMs, summarize, timed } from './measure.ts'

const ROUNDS = 25
const WARM_UP = 3
const NEIGHBOURS = 10

const run = promisify(execFile)

/** A whole apply with TLS by a covering wildcard, against the bare floor of what it cannot do without, in turns. */
export async function benchApply(lab: LabDescription, state: string): Promise<void> {
  await makeWildcard(lab.zone, join(state, 'certificates'))
  const caller = new Caller(lab)
  for (let i = 0; i < NEIGHBOURS; i += 1) await (await planned(caller, lab, `neighbour-${i}`)).apply()
  const floor = floorOf(lab)
  const samples = { apply: [] as number[], floor: [] as number[] }
  const steps = new Map<string, number[]>()
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const exposure = await planned(caller, lab, `bench-${round + WARM_UP}`)
    const apply = await timed(async () => {
      const { steps: reports } = await exposure.apply()
      for (const { name, ms } of round < 0 ? [] : reports) steps.set(name, [...(steps.get(name) ?? []), ms])
    })
    await exposure.remove()
    const bare = await timed(() => floor(`floor-${round + WARM_UP}`))
    if (round < 0) continue
    samples.apply.push(apply)
    samples.floor.push(bare)
  }
  caller.close()
  for (const [name, ms] of steps)
    process.stdout.write(`  ${name.padEnd(22)} p50 ${formatMs(summarize(ms).p50).padStart(11)}\n`)
  report(summarize(samples.apply), summarize(samples.floor))
}

function report(apply: ReturnType<typeof summarize>, floor: ReturnType<typeof summarize>): void {
  const rows = { 'a whole apply over HTTP': apply, 'nginx -t, HUP, UPDATE': floor }
  for (const [name, { p50, p95 }] of Object.entries(rows)) {
    process.stdout.write(`${name.padEnd(24)} p50 ${formatMs(p50).padStart(11)}   p95 ${formatMs(p95).padStart(11)}\n`)
  }
  const ratio = apply.p50 / floor.p50
  process.stdout.write(
    `\nAn apply's p50 is ${ratio.toFixed(2)} times the bare floor (at most 1.30 is wanted), over ${apply.count} rounds.\n`,
  )
  process.exitCode = ratio <= 1.3 ? 0 : 1
}

async function planned(caller: Caller, { zone }: LabDescription, subdomain: string) {
  const request = { zone, subdomain, server: '25', port: 3000, health: '/healthz', tls: true }
  const { planId } = await caller.post<{ planId: string }>('/api/deploy/plan', request)
  const right = async (action: 'apply' | 'remove') => {
    const { capability } = await caller.post<{ capability: string }>('/api/internal/token', { planId, action })
    return { 'x-deploy-capability': capability }
  }
  const toApply = await right('apply')
  return {
    apply: () => caller.post<{ steps: { name: string; ms: number }[] }>('/api/deploy/apply', { planId }, toApply),
    remove: async () => caller.post('/api/deploy/remove', { planId }, await right('remove')),
  }
}

/** What no tool can do without: test the configuration, reload until the former workers are gone, change the zone. */
function floorOf({ edges, dns, zone }: LabDescription): (label: string) => Promise<void> {
  const { prefix, config, pidFile, address } = edges.primary
  const { name, algorithm, secretFile } = dns.tsig
  const secret = readFileSync(secretFile, 'utf8').trim()
  const key = { name, algorithm: algorithm as 'hmac-sha256', secret }
  const provider = rfc2136Provider({ zone, primary: dns.primary, key })
  return async (label) => {
    await run('nginx', ['-t', '-q', '-p', prefix, '-c', config])
    const master = await masterIn(pidFile)
    if (master === undefined) throw new Error("the lab's nginx does not run")
    const former = await servingWorkers(master)
    process.kill(master, 'SIGHUP')
    while ((await Promise.all(former.map(isServing))).includes(true)) await sleep(2)
    await provider.create([{ name: `${label}.${zone}`, type: 'A', ttl: 60, value: address }])
  }
}

async function makeWildcard(zone: string, folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'wildcard.key'), '-out', join(folder, 'wildcard.pem')]
  const subject = ['-subj', '/CN=bench', '-days', '30', '-addext', `subjectAltName=DNS:*.${zone}`]
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    ...files,
    ...subject,
  ])
}
