import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { doctorParts } from '../../../src/compose/machine/doctor.ts'
import { doctor } from '../../../src/operate/doctor/command.ts'
import { BROKEN, type Broken, breakThisLab, endBroken, type Loose, primary } from '../../support/lab/broken-set-ups.ts'
import { planRequest, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { serviceHere } from '../../support/lab/service-here.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { doubledIn } from '../../support/punctuation.ts'
import { until } from '../../support/until.ts'

/**
 * doctor is never green where an apply would fail. Each set-up is broken in one way; doctor looks, a host is applied (or the service is
 * started, where it does not even run), and what both say is compared with this table.
 */
let lab: TestLab

beforeAll(async () => {
  lab = await startTestLab()
  await lab.stopService()
  breakThisLab(lab)
}, 120_000)
afterAll(async () => {
  await endBroken()
  await lab?.stop()
}, 60_000)

const configFile = () => join(lab.state, 'drawbridge.yaml')

interface Report {
  readonly ok: boolean
  readonly findings: readonly { readonly status: string; readonly sentence: string }[]
}

/** What doctor calls a fault. Empty if it is green. */
async function faults(file: string): Promise<string[]> {
  const { body, exitCode } = await doctor(file, false, doctorParts)
  const { ok, findings } = body as Report
  const told = findings.filter(({ status }) => status === 'fault').map(({ sentence }) => sentence)
  expect({ ok, exitCode }).toEqual({ ok: told.length === 0, exitCode: told.length === 0 ? 0 : 1 })
  return told
}

let count = 0

/** Why a host cannot be exposed: the refusal of its plan, or of its apply. Undefined if it is exposed, and taken off again. */
async function refusal(tls: boolean): Promise<string | undefined> {
  const plan = await lab.call({
    path: '/api/deploy/plan',
    body: planRequest(lab, { subdomain: `try-${++count}`, tls }),
  })
  if (plan.status !== 201) return plan.text
  const applied = await run(lab, plan.body.planId)
  if (applied.status !== 200) return applied.text
  await run(lab, plan.body.planId, 'remove')
  return undefined
}

/** The lab's configuration with a change and a state folder of its own, in a file beside it. */
async function changedFile(change: NonNullable<Broken['start']>): Promise<string> {
  const config: Loose = parse(readFileSync(configFile(), 'utf8'))
  config.stateDir = join(lab.state, `state-${++count}`)
  config.listen = { address: primary().address.replace(/\.23$/, '.77'), port: 8045 }
  mkdirSync(config.stateDir, { mode: 0o700 })
  await change(config)
  const file = join(lab.state, 'changed.yaml')
  writeFileSync(file, stringify(config), { mode: 0o600 })
  return file
}

test('a set-up that is well: doctor is green, and a host is exposed', async () => {
  await using _ = await serviceHere(lab)
  expect([await faults(configFile()), await refusal(false), await refusal(true)]).toEqual([[], undefined, undefined])
})

describe.each(BROKEN.map((broken) => [broken.name, broken] as const))('%s', (_, broken) => {
  test('doctor is not green, and an apply fails', { timeout: 120_000 }, async () => {
    const said = await tried(broken)
    expect(said.apply).toMatch(broken.apply)
    expect(said.doctor.join('\n')).toMatch(broken.doctor)
    expect(doubledIn([...said.doctor, said.apply].join('\n'))).toEqual([])
  })
})

async function tried({
  before,
  world,
  config,
  start,
  tls = false,
}: Broken): Promise<{ doctor: string[]; apply: string | undefined }> {
  if (start) {
    const file = await changedFile(start)
    const told = await faults(file)
    const { code, stderr, stdout } = await drawbridge(['serve', '--config', file])
    expect(code).not.toBe(0)
    return { doctor: told, apply: `${stderr}${stdout}` }
  }
  const mendBefore = await before?.()
  try {
    await using _ = await serviceHere(lab, config)
    const mend = await world?.()
    try {
      return { doctor: await faults(configFile()), apply: await refusal(tls) }
    } finally {
      await mend?.()
    }
  } finally {
    await mendBefore?.()
  }
}

test('afterwards it is well again', { timeout: 60_000 }, async () => {
  await using _ = await serviceHere(lab)
  await until('doctor is green', async () => (await faults(configFile())).length === 0, 40_000)
  expect(BROKEN.length).toBeGreaterThanOrEqual(25)
})
