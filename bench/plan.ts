import type { Lab } from '../lab/lab.ts'
import { dnsReader } from '../src/dns/reader.ts'
import { probeHealth } from '../src/observe/health-probe.ts'
import { nameInUse } from '../src/observe/name-in-use.ts'
import { Caller } from './caller.ts'
import { formatMs, type Samples, summarize, timed } from './measure.ts'

const ROUNDS = 300
const WARM_UP = 200

/** Measures how much longer a plan takes than the slower of its two probes. */
export async function benchPlan({ description: lab }: Lab): Promise<void> {
  const backend = lab.backends.find(({ server }) => server === '25')
  if (!backend) throw new Error('The lab has no backend on server 25.')
  const reader = dnsReader(lab.dns.primary)
  const caller = new Caller(lab)
  const samples = { health: [] as number[], dns: [] as number[], both: [] as number[], plan: [] as number[] }
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const host = `bench-${round + WARM_UP}.${lab.zone}`
    const probe = () => probeHealth({ ...backend, path: '/healthz', host })
    const checkName = () => nameInUse(reader, lab.zone, host)
    const health = await timed(probe)
    const dns = await timed(checkName)
    const both = await timed(() => Promise.all([probe(), checkName()]))
    const plan = await timed(() => caller.post('/api/deploy/plan', requestFor(host, lab.zone, backend.port)))
    if (round < 0) continue
    samples.health.push(health)
    samples.dns.push(dns)
    samples.both.push(both)
    samples.plan.push(plan)
  }
  caller.close()
  report(summarize(samples.health), summarize(samples.dns), summarize(samples.both), summarize(samples.plan))
}

function report(health: Samples, dns: Samples, both: Samples, plan: Samples): void {
  const slower = Math.max(health.p50, dns.p50)
  const rows = {
    'health probe alone': health,
    'DNS check alone': dns,
    'both at the same time': both,
    'a whole plan over HTTP': plan,
  }
  for (const [name, { p50, p95 }] of Object.entries(rows)) {
    process.stdout.write(`${name.padEnd(24)} p50 ${formatMs(p50).padStart(10)}   p95 ${formatMs(p95).padStart(10)}\n`)
  }
  const above = plan.p50 - slower
  process.stdout.write(
    `\nThe p50 of a plan is ${formatMs(above)} above the slower of its probes (target: at most 5 ms), over ${plan.count} rounds.\n`,
  )
  process.exitCode = above <= 5 ? 0 : 1
}

const requestFor = (host: string, zone: string, port: number) => ({
  zone,
  subdomain: host.split('.')[0],
  server: '25',
  port,
  health: '/healthz',
  tls: false,
})
