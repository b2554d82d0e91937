import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Daemon, startDaemon } from '../../lab/daemon.ts'
import { findProgram } from '../../lab/program.ts'
import { masterPid } from '../../src/nginx/process/nginx-workers.ts'
import { Slots } from '../../src/primitives/slots.ts'
import { visit } from '../support/edge/visitor.ts'
import { outOfStep, untilInStep } from '../support/lab/edge-step.ts'
import { applied, invariants, removed } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { onSmallDisk, type SmallDisk } from '../support/lab/small-disk.ts'
import { until } from '../support/until.ts'

/** Hosts come and go while the Secondary takes no change. After its repair it is in step within a minute, without a hand. */
let lab: TestLab
let restarted: Daemon | undefined
let disk: SmallDisk | undefined
beforeAll(async () => {
  lab = await startTestLab()
  await applied(lab, { subdomain: 'stays' })
})
afterAll(async () => {
  // The service would change files while they move from the disk.
  await lab?.stopService()
  await restarted?.stop()
  disk?.unmount()
  await lab?.stop()
})
const secondary = () => lab.description.edges.secondary

interface Outage {
  readonly cause: string
  readonly hosts: number
  readonly begin: () => Promise<void>
  readonly end: () => Promise<void>
}

const brokenConfiguration = (): Outage => {
  const { config } = secondary()
  const sound = readFileSync(config, 'utf8')
  return {
    cause: 'config_broken',
    hosts: 50,
    begin: async () => writeFileSync(config, `${sound}\nno_such_directive on;\n`),
    end: async () => writeFileSync(config, sound),
  }
}

const stopped = (): Outage => {
  const { pidFile, prefix, config, errorLog } = secondary()
  const isRunning = () => masterPid(pidFile) !== undefined
  return {
    cause: 'away',
    hosts: 8,
    begin: async () => {
      process.kill(masterPid(pidFile) ?? 0, 'SIGTERM')
      await until('nginx has ended', () => !isRunning())
    },
    end: async () => {
      restarted = await startDaemon({
        name: 'the nginx of the Secondary',
        program: findProgram('nginx', 'nginx'),
        args: ['-e', errorLog, '-p', prefix, '-c', config, '-g', 'daemon off;'],
        logFile: join(dirname(errorLog), 'output.log'),
        isReady: async () => isRunning(),
      })
    },
  }
}

const fullDisk = (): Outage => ({
  cause: 'disk_full',
  hosts: 8,
  begin: async () => {
    disk = onSmallDisk(secondary().folder, 16 * 1024)
    disk.fill()
  },
  end: async () => disk?.free(),
})

const AT_ONCE = 8
const each = async <T>(hosts: number, work: (at: number) => Promise<T>): Promise<T[]> => {
  const slots = new Slots(AT_ONCE)
  return Promise.all(Array.from({ length: hosts }, (_, at) => slots.run(() => work(at))))
}

test.each([
  ['its configuration is broken', brokenConfiguration],
  ['its disk is full', fullDisk],
  ['its nginx is stopped', stopped],
])(
  'hosts come and go while %s',
  async (_, outageOf) => {
    const { cause, hosts, begin, end } = outageOf()
    const name = cause.replace('_', '-')
    const going = await each(hosts, (at) => applied(lab, { subdomain: `${name}-going-${at}` }))
    await untilInStep(lab)

    await begin()
    const [coming] = await Promise.all([
      each(hosts, (at) => applied(lab, { subdomain: `${name}-coming-${at}` })),
      each(hosts, (at) => removed(lab, going[at].planId)),
    ])
    for (const { verification } of coming) expect(verification.secondary).toMatchObject({ ok: false, inStep: false })
    await until('the cause is known', async () => (await outOfStep(lab)).get('73') === cause)
    const last = await applied(lab, { subdomain: `${name}-last` })
    expect(last.verification.secondary).toMatchObject({ ok: false, inStep: false, outOfStep: { cause } })
    expect(last.verification.secondary.detail).toContain('has taken no change since')
    expect(await outOfStep(lab)).toEqual(new Map([['73', cause]]))
    coming.push(last)

    await end()
    await untilInStep(lab)
    const statusOf = async (host: string) => (await visit(secondary(), { host })).status
    // The generation is entered before nginx has loaded it.
    await expect.poll(() => Promise.all(coming.map(({ host }) => statusOf(host)))).toEqual(coming.map(() => 200))
    expect(await Promise.all(going.map(({ host }) => statusOf(host)))).not.toContain(200)
    expect(await statusOf('stays.lab.test')).toBe(200)
    await invariants(lab)
  },
  300_000,
)
