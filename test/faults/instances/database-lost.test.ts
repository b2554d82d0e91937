import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dnsReader } from '../../../src/dns/reader.ts'
import { serves } from '../../support/edge/edge-folder.ts'
import { grantedPlan, type InstanceLab, startInstanceLab } from '../../support/lab/instances.ts'
import { until } from '../../support/until.ts'

/** PostgreSQL ends as in a crash in the middle of an apply, and comes back. Every run ends applied or put back. */
const FEW = ['apply proxy swapped', 'apply dns after-effect', 'apply verify after-effect']
const MORE = [
  'apply run begun',
  'apply backup after-effect',
  'apply proxy after-intent',
  'apply proxy after-effect',
  'apply dns after-intent',
  'apply verify after-intent',
  'apply run before-finish',
  'apply run after-finish',
]
const POINTS = process.env.CAMPAIGN ? [...FEW, ...MORE] : FEW
/** Longer than a lease, so that the run cannot go on under its old one. */
const AWAY_MS = process.env.CAMPAIGN ? 8_000 : 6_000

let lab: InstanceLab

beforeAll(async () => {
  lab = await startInstanceLab()
}, 180_000)
afterAll(() => lab?.stop())

/** Whether the kernel has stopped a process. */
const isStopped = (pid: number): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

const hasName = async (host: string): Promise<boolean> => {
  const [answer] = await dnsReader(lab.lab.description.dns.primary).ask([{ name: host, type: 'A' }])
  return answer?.kind === 'answer' && answer.rcode === 'NOERROR'
}

test.each(POINTS)(
  'a database that is lost at "%s" leaves the run applied or put back',
  { timeout: 240_000 },
  async (point) => {
    const name = `lost-${POINTS.indexOf(point)}`
    const instance = await lab.start(name, 23, { environment: { DRAWBRIDGE_STOP_AT: point } })
    try {
      const { planId, host, right } = await grantedPlan(instance, name)
      const answer = instance.post('/api/deploy/apply', { planId }, right)
      answer.catch(() => undefined)
      await until('the instance has stopped', () => isStopped(instance.daemon.pid), 60_000)
      await lab.postgres.crash()
      process.kill(instance.daemon.pid, 'SIGCONT')
      await sleep(AWAY_MS)
      const refused = await instance.post('/api/internal/token', { planId })
      expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
      const listed = await instance.get('/api/hosts')
      expect(listed.status).toBe(200)
      expect(Number(listed.headers.age)).toBeGreaterThan(2)
      await lab.postgres.restart()
      await until(
        'the run has ended',
        async () => (await lab.store.unfinishedRuns().catch(() => [undefined])).length === 0,
        90_000,
      )
      const plan = await lab.store.findPlan(planId)
      expect(['applied', 'rolled_back']).toContain(plan?.state)
      const isApplied = plan?.state === 'applied'
      const answered = await answer.catch(() => undefined)
      if (answered?.status === 200) expect(isApplied).toBe(true)
      expect([await hasName(host), await serves(lab.lab.description.edges.primary, host)]).toEqual([
        isApplied,
        isApplied,
      ])
      expect((await lab.store.runsOf(planId)).map(({ state }) => state)).toEqual([
        isApplied ? 'succeeded' : 'rolled_back',
      ])
      await until(
        'reads are confirmed again',
        async () => (await instance.get('/api/hosts')).headers.age === undefined,
        30_000,
      )
    } finally {
      // A test that failed may have left it stopped.
      await lab.postgres.restart().catch(() => undefined)
      await instance.daemon.stop()
    }
  },
)
