import { dnsReader } from '../src/dns/reader.ts'
import { probeHealth } from '../src/observe/health-probe.ts'
import { nameInUse } from '../src/observe/name-in-use.ts'
import { onLab } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { requestFor } from './exposures.ts'
import { median, timed } from './measure.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

const MOST_ABOVE_MS = 5

/** How much longer a plan takes than the slower of its two probes. */
export function benchPlan({ plan: { rounds, warmUp } }: Sizes): Promise<Row[]> {
  return onLab({ hosts: 0, tls: 'wildcard' }, async ({ description: lab }) => {
    const backend = lab.backends.find(({ server }) => server === '25')
    if (!backend) throw new Error('The lab has no backend on server 25.')
    const reader = dnsReader(lab.dns.primary)
    const caller = new Caller(lab)
    const [health, dns, both, plan]: [number[], number[], number[], number[]] = [[], [], [], []]
    for (let round = -warmUp; round < rounds; round += 1) {
      const label = `bench-${round + warmUp}`
      const host = `${label}.${lab.zone}`
      const probe = () => probeHealth({ ...backend, path: '/healthz', host })
      const checkName = () => nameInUse(reader, lab.zone, host)
      const took = [
        await timed(probe),
        await timed(checkName),
        await timed(() => Promise.all([probe(), checkName()])),
        await timed(() => caller.post('/api/deploy/plan', requestFor(lab.zone, label, false))),
      ]
      if (round < 0) continue
      for (const [at, values] of [health, dns, both, plan].entries()) values.push(took[at] ?? Number.NaN)
    }
    caller.close()
    const slower = Math.max(median(health), median(dns))
    return [
      row('the health probe alone', 'ms', health),
      row('the DNS check alone', 'ms', dns),
      row('both at the same time', 'ms', both),
      row('a whole plan over HTTP', 'ms', plan),
      row('plan above the slower of its probes', 'ms', median(plan) - slower, { most: MOST_ABOVE_MS }),
    ]
  })
}
