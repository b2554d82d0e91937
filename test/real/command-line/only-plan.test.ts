import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { doctorParts } from '../../../src/compose/machine/doctor.ts'
import { doctor } from '../../../src/operate/doctor/command.ts'
import { expected, planned, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { until } from '../../support/until.ts'

/** A service whose nginx has no place for Drawbridge's hosts says so everywhere, and goes on by itself when that changes. */
let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab({ service: false })
})
afterAll(() => lab?.stop())

test('an installation that can only plan tells that, and why', async () => {
  const { config, folder, http } = lab.description.edges.primary
  const good = readFileSync(config, 'utf8')
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
  const report = (await doctor(join(lab.state, 'drawbridge.yaml'), false, doctorParts)).body as {
    findings: { subject: string; status: string; sentence: string }[]
  }
  const faults = report.findings.filter(({ status, sentence }) => status === 'fault' && reason.test(sentence))
  expect(faults).toMatchObject([{ subject: 'edge 23' }])

  const plan = await planned(lab)
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
  await until('the edge is ready', async () => (await ready()).status === 'ok', 40_000)
  expect((await policy('public')).apply).toEqual({ possible: true, reasons: [] })
  expect((await run(lab, plan.planId)).status).toBe(200)
}, 90_000)
