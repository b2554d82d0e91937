import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { doctorParts } from '../../../src/compose/machine/doctor.ts'
import { doctor } from '../../../src/operate/doctor/command.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { serviceHere } from '../../support/instances/service-here.ts'
import { endBroken } from '../../support/lab/broken-set-ups.ts'
import { applied, expected, planned, run, world } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'
import { doctorAndApply } from './doctor/and-apply.ts'

let lab: TestLab

beforeAll(async () => {
  lab = await startTestLab()
})

afterAll(async () => {
  await endBroken()
  await lab?.stop()
})

interface Report {
  readonly ok: boolean
  readonly findings: readonly { subject: string; status: string; sentence: string; fix: string | null }[]
  readonly done: readonly string[]
}

const configFile = () => join(lab.state, 'drawbridge.yaml')

/** Doctor on the lab's configuration, or on one that a test changed. */
async function examined(
  file = configFile(),
  option?: '--fix',
): Promise<Report & { readonly code: number | undefined }> {
  const { body, exitCode } = await doctor(file, option === '--fix', doctorParts)
  return { code: exitCode, ...(body as Report) }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into a configuration of any form
type Loose = any

/** The lab's configuration with a change, in a file beside it. */
function changed(change: (config: Loose) => void): string {
  const config: Loose = parse(readFileSync(configFile(), 'utf8'))
  change(config)
  const file = join(lab.state, 'changed.yaml')
  writeFileSync(file, stringify(config), { mode: 0o600 })
  return file
}

const faults = ({ findings }: Report) => findings.filter(({ status }) => status === 'fault')
const warnings = ({ findings }: Report) => findings.filter(({ status }) => status === 'warning')

test('a lab that is well is told so in one JSON document, with 0, and nothing is changed by looking', async () => {
  const before = await world(lab)
  const { code, stdout, stderr } = await command(['doctor', '--config', configFile(), '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const report: Report = JSON.parse(stdout)
  expect([...faults(report), ...warnings(report)]).toEqual([])
  expect(report.findings.map(({ sentence }) => sentence)).toContain('The Secondary is in step with the store.')
  expect(report).toMatchObject({ ok: true, done: [] })
  const subjects = new Set(report.findings.map(({ subject }) => subject))
  expect([...subjects]).toEqual([
    'configuration',
    'state folder',
    'store',
    'edge 23',
    'edge 73',
    'secondary 73',
    'zone lab.test',
    'authority',
    'certificates',
    'service',
  ])
  expect(await world(lab)).toEqual(before)
})

describe('an edge', () => {
  test('whose configuration is broken, or does not include our folder', async () => {
    const { config } = lab.description.edges.primary
    const good = readFileSync(config, 'utf8')
    try {
      writeFileSync(config, `${good}\ncanary_directive on;\n`)
      const broken = await examined()
      expect(faults(broken)).toMatchObject([{ subject: 'edge 23', sentence: expect.stringContaining(config) }])
      expect(JSON.stringify(broken)).not.toContain('canary_directive')
      writeFileSync(config, good.replace(/include .*drawbridge\/\*\.conf;/, ''))
      const without = await examined(undefined, '--fix')
      const line = `include ${lab.description.edges.primary.folder}/*.conf;`
      expect(faults(without)).toMatchObject([{ subject: 'edge 23', fix: expect.stringContaining(line) }])
      expect(readFileSync(config, 'utf8')).not.toContain(line)
    } finally {
      writeFileSync(config, good)
    }
  })

  test('of whose configuration a part is left out: a warning says where hosts may be missing', async () => {
    const { config } = lab.description.edges.primary
    const good = readFileSync(config, 'utf8')
    const deep = (level: number) => join(lab.state, `deep-${level}.conf`)
    for (let level = 0; level < 40; level += 1) writeFileSync(deep(level), `include ${deep(level + 1)};\n`)
    writeFileSync(deep(40), 'server { listen 127.0.0.1:3996; server_name deep.lab.test; }\n')
    try {
      writeFileSync(
        config,
        good.replace(/include .*drawbridge\/\*\.conf;/, (own) => `${own} include ${deep(0)};`),
      )
      const report = await examined()
      expect(faults(report)).toEqual([])
      expect(warnings(report)).toMatchObject([
        {
          subject: 'edge 23',
          sentence: expect.stringMatching(/may miss hosts there: .*nested.*deep-\d+\.conf, line 1/),
        },
      ])
    } finally {
      writeFileSync(config, good)
    }
  })

  test('whose folders are gone or open to others: --fix makes and closes them', async () => {
    const folder = lab.description.edges.primary.folder
    rmSync(join(folder, '.staging'), { recursive: true })
    chmodSync(join(folder, 'generations'), 0o777)
    chmodSync(join(lab.state, 'service'), 0o750)
    const found = await examined()
    expect(faults(found).map(({ fix }) => fix)).toEqual([
      `chmod 0700 ${join(lab.state, 'service')}`,
      `chmod 0755 ${join(folder, 'generations')}`,
      `mkdir -p -m 0700 ${join(folder, '.staging')}`,
    ])
    expect(existsSync(join(folder, '.staging'))).toBe(false)
    const fixed = await examined(undefined, '--fix')
    expect(fixed).toMatchObject({ ok: true, code: 0 })
    expect(fixed.done).toHaveLength(3)
    expect(statSync(join(folder, '.staging')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'generations')).mode & 0o777).toBe(0o755)
  })

  test('on a port that another program has', async () => {
    const address = lab.description.edges.primary.address.replace(/\.23$/, '.99')
    const squatter = createServer()
    await new Promise<void>((listening) => squatter.listen(8080, address, listening))
    const report = await examined(changed((config) => Object.assign(config.edges['23'], { listen: [address] })))
    squatter.close()
    expect(faults(report)).toMatchObject([
      { subject: 'edge 23', sentence: expect.stringMatching(/8080 is taken by .*pid/) },
    ])
  })
})

describe('a zone', () => {
  test('whose other name server does not answer is a warning', async () => {
    const report = await examined(changed((config) => config.zones['lab.test'].nameServers.push('127.0.0.1:9')))
    expect(report).toMatchObject({ ok: true, code: 0 })
    expect(warnings(report)).toMatchObject([{ sentence: expect.stringContaining('127.0.0.1:9') }])
  })

  const OFF = [
    [3_600_000, 'fault', /BADTIME.*is 3[56]\d\d s (?:ahead|behind)/],
    [-4_000, 'warning', /differ by [345] s/],
    [-120_000, 'fault', /differ by 1[12]\d s/],
    [-10_000, 'fault', /differ by (?:9|1[01]) s/],
  ] as const
  test.each(process.env.CAMPAIGN ? OFF : OFF.slice(0, 2))(
    'and a clock that is off by %d ms',
    async (off, status, sentence) => {
      const { body } = await doctor(configFile(), false, (config) =>
        doctorParts(config, { ...systemClock, now: () => Date.now() + off }),
      )
      const told = (body as Report).findings.filter((finding) => finding.status !== 'ok')
      expect(told).toMatchObject([{ subject: 'zone lab.test', status, sentence: expect.stringMatching(sentence) }])
    },
  )
})

test('certificates that cannot be used, and a folder that is not there', async () => {
  const broken = join(lab.state, 'certificates', 'canary.pem')
  writeFileSync(broken, '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n')
  const report = await examined(changed((config) => config.certificates.push('/nowhere/certificates')))
  rmSync(broken)
  expect(faults(report)).toMatchObject([{ sentence: expect.stringContaining('/nowhere/certificates') }])
  expect(warnings(report)).toMatchObject([{ sentence: expect.stringContaining(broken) }])
})

/** A service whose nginx has no place for Drawbridge's hosts says so everywhere, and goes on by itself when that changes. */
test.runIf(process.env.CAMPAIGN)('an installation that can only plan tells that, and why', async () => {
  const { config, folder, http } = lab.description.edges.primary
  const good = readFileSync(config, 'utf8')
  await lab.stopService()
  rmSync(folder, { recursive: true })
  writeFileSync(
    config,
    good.replace('include drawbridge', `server { listen ${http} proxy_protocol; return 444; }\n  include drawbridge`),
  )
  await lab.restartService()
  const reason = new RegExp(`PROXY protocol on \\*:${http} \\(${config}, line \\d+\\)`)
  const ready = async () => (await lab.call({ path: '/readyz' })).body
  const policy = async (from: 'internal' | 'public') => expected(await lab.call({ path: '/api/policy', from }), 200)

  expect(await ready()).toEqual({
    status: 'degraded',
    warnings: [expect.stringMatching(/^Edge 23 is not ready, so this installation can only plan\./)],
  })
  expect((await policy('internal')).apply).toEqual({ possible: false, reasons: [expect.stringMatching(reason)] })
  expect((await policy('public')).apply).toEqual({ possible: false, reasons: ['Edge 23 is not ready.'] })
  const told = faults(await examined()).filter(({ sentence }) => reason.test(sentence))
  expect(told).toMatchObject([{ subject: 'edge 23' }])

  const plan = await planned(lab, { subdomain: 'only-planned' })
  const proxy = (checks: { name: string }[]) => checks.find(({ name }) => name === 'proxy')
  expect(proxy(plan.checks)).toMatchObject({
    status: 'warning',
    by: 'preparation',
    detail: expect.stringMatching(reason),
  })
  const seen = expected(await lab.call({ path: `/api/deploy/plans/${plan.planId}`, from: 'public' }), 200)
  expect(proxy(seen.checks)).toEqual({
    name: 'proxy',
    status: 'warning',
    by: 'preparation',
    detail: expect.not.stringContaining(config),
  })
  const refused = await run(lab, plan.planId)
  expect(refused.status).not.toBe(200)
  expect(refused.text).toMatch(/PROXY protocol/)

  writeFileSync(config, good)
  await until('the edge is ready', async () => (await ready()).status === 'ok')
  expect((await policy('public')).apply).toEqual({ possible: true, reasons: [] })
  expect((await run(lab, plan.planId)).status).toBe(200)
})

test('for a person every finding is a line with its fix below it, and a fault gives 1', async () => {
  const file = changed((config) => Object.assign(config.acme, { directory: 'https://127.0.0.1:9/dir' }))
  const { code, stdout } = await command(['doctor', '--config', file])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^ok {7}configuration {2}.*changed\.yaml is valid\.$/m)
  expect(stdout).toMatch(/^FAULT {4}authority .*127\.0\.0\.1:9/m)
  expect(stdout).toMatch(/^ +Fix: Check acme\.directory/m)
})

describe('is never green where an apply would fail:', () => doctorAndApply(() => lab))

test('a Secondary that is gone is a warning: no success depends on it', async () => {
  await using _ = await serviceHere(lab)
  process.kill(Number(readFileSync(lab.description.edges.secondary.pidFile, 'utf8')), 'SIGTERM')
  await expect.poll(() => existsSync(lab.description.edges.secondary.pidFile)).toBe(false)
  const report = await examined()
  expect(faults(report)).toEqual([])
  expect(report).toMatchObject({ ok: true, code: 0 })
  expect(warnings(report).map(({ subject }) => subject)).toEqual(['edge 73', 'secondary 73'])
  await applied(lab, { subdomain: 'missed' })
  expect(warnings(await examined()).at(-1)).toMatchObject({
    subject: 'secondary 73',
    sentence: expect.stringMatching(/not in step.* Hosts: 1 missing or different\. The oldest missing change is of 20/),
  })
})
