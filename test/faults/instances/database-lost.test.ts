import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dnsReader } from '../../../src/dns/reader.ts'
import { takes } from '../../support/delay.ts'
import { serves } from '../../support/edge/edge-folder.ts'
import { follow } from '../../support/http/event-stream.ts'
import { grantedPlan, type InstanceLab, startInstanceLab } from '../../support/instances/instances.ts'
import { until } from '../../support/until.ts'

/** PostgreSQL ends as in a crash in the middle of an apply, and comes back. Every run ends applied or put back. */
const FEW = ['apply dns after-effect']
const MORE = [
  'apply proxy swapped',
  'apply verify after-effect',
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
      await until('the instance has stopped', () => isStopped(instance.daemon.pid))
      await lab.postgres.crash()
      process.kill(instance.daemon.pid, 'SIGCONT')
      await takes(AWAY_MS)
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

test('without the database reads go on from memory with their age, and changes are refused', {
  timeout: 240_000,
}, async () => {
  const [instance, other] = [await lab.start('reader', 23), await lab.start('writer', 24)]
  try {
    const { planId, host, right } = await grantedPlan(other, 'remembered')
    expect((await other.post('/api/deploy/apply', { planId }, right)).status).toBe(200)
    const later = await grantedPlan(other, 'remembered-later')
    const reads = {
      plan: `/api/deploy/plans/${planId}`,
      plans: '/api/deploy/plans?limit=5',
      audit: '/api/audit?limit=3',
      diagnosis: `/api/diagnose?host=${host}`,
      health: `/api/health?host=${host}`,
      hosts: '/api/hosts',
    }
    await until('the reader knows the host', async () => (await instance.get(reads.health)).status === 200)
    const before = { plan: await instance.get(reads.plan), audit: await instance.get(reads.audit) }
    expect(before.plan.headers.age).toBeUndefined()
    // Longer than two looks at the store: only the other instance has been asked about the second plan.
    await takes(3_000)
    await lab.postgres.crash()
    const streams = {
      all: follow({ description: { ...lab.lab.description, api: instance.origin } }, '/api/events?after=0'),
      plan: follow({ description: { ...lab.lab.description, api: instance.origin } }, `${reads.plan}/events`),
    }
    await until('every read tells its age', async () => {
      const answers = await Promise.all(Object.values(reads).map((path) => instance.get(path)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      return answers.every(({ headers }) => headers.age !== undefined)
    })
    const lost = await instance.get(reads.plan)
    expect(lost.body).toEqual(before.plan.body)
    expect((await instance.get(reads.audit)).body.lines).toEqual(before.audit.body.lines)
    expect((await instance.get(reads.plans)).body.plans.map((plan: { planId: string }) => plan.planId)).toEqual(
      expect.arrayContaining([planId, later.planId]),
    )
    expect((await instance.get(reads.diagnosis)).body).toMatchObject({ planId, cause: { code: 'healthy' } })
    await until('the events are told', () => streams.all.events.some(({ data }) => data.data?.planId === planId))
    await until('the steps are told', () => streams.plan.events.some(({ event }) => event === 'end'))
    expect([streams.all.age(), streams.plan.age()]).toEqual([expect.stringMatching(/^\d+$/), expect.any(String)])
    for (const stream of Object.values(streams)) stream.close()
    // Nobody knows whether there is such a plan.
    expect((await instance.get(`/api/deploy/plans/plan_${'0'.repeat(26)}`)).status).toBe(503)
    const request = { zone: 'lab.test', subdomain: 'new', server: '25', port: 3000, health: '/healthz', tls: false }
    for (const [path, body] of [
      ['/api/deploy/plan', request],
      ['/api/internal/token', { planId }],
      ['/api/deploy/apply', { planId: later.planId }],
    ] as const) {
      const { status, body: problem, headers } = await instance.post(path, body, later.right)
      expect([status, problem.code, headers['retry-after']]).toEqual([503, 'unavailable', '5'])
    }
    const numbers = (await instance.get('/metrics')).text
    expect(numbers).toMatch(/^drawbridge_store_up 0$/m)
    expect(numbers).toMatch(/^drawbridge_store_unconfirmed_seconds [1-9]/m)
    expect(numbers).toMatch(/^drawbridge_queue_length\{queue="runs"\} 0$/m)
    await lab.postgres.restart()
    await until('nothing has an age any more', async () => {
      const answers = await Promise.all(Object.values(reads).map((path) => instance.get(path)))
      return answers.every(({ status, headers }) => status === 200 && headers.age === undefined)
    })
    const applied = await instance.post('/api/deploy/apply', { planId: later.planId }, later.right)
    expect([applied.status, applied.body.state]).toEqual([200, 'applied'])
  } finally {
    await lab.postgres.restart().catch(() => undefined)
    await Promise.all([instance, other].map(({ daemon }) => daemon.stop()))
  }
})
