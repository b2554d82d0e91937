import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { doctorParts } from '../../../../src/compose/machine/doctor.ts'
import { doctor } from '../../../../src/operate/doctor/command.ts'
import { zoneRecords } from '../../../support/dns/zone-transfer.ts'
import { hurriedClock } from '../../../support/hurried-clock.ts'
import { serviceHere } from '../../../support/instances/service-here.ts'
import { BROKEN, type Broken, breakThisLab, type Loose, primary } from '../../../support/lab/broken-set-ups.ts'
import { planRequest, run } from '../../../support/lab/exposure.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { command } from '../../../support/programs/command.ts'
import { drawbridge } from '../../../support/programs/drawbridge.ts'
import { doubledIn } from '../../../support/punctuation.ts'
import { until } from '../../../support/until.ts'

/**
 * Each set-up is broken in one way; doctor looks, a host is applied (or the service is started, where it does not even run), and what
 * both say is compared with a table. The lab's own service is stopped afterwards.
 */
export function doctorAndApply(lab: () => TestLab): void {
  const configFile = () => join(lab().state, 'drawbridge.yaml')
  let count = 0

  beforeAll(async () => {
    await lab().stopService()
    breakThisLab(lab())
  })

  /** Why a host cannot be exposed: the refusal of its plan, or of its apply. Undefined if it is exposed, and taken off again. */
  async function refusal(tls: boolean): Promise<string | undefined> {
    const body = planRequest(lab(), { subdomain: `try-${++count}`, tls })
    const plan = await lab().call({ path: '/api/deploy/plan', body })
    if (plan.status !== 201) return plan.text
    const applied = await run(lab(), plan.body.planId)
    if (applied.status !== 200) return applied.text
    await run(lab(), plan.body.planId, 'remove')
    return undefined
  }

  /** The lab's configuration with a change and a state folder of its own, in a file beside it. */
  async function changedFile(change: NonNullable<Broken['start']>): Promise<string> {
    const config: Loose = parse(readFileSync(configFile(), 'utf8'))
    config.stateDir = join(lab().state, `state-${++count}`)
    config.listen = { address: primary().address.replace(/\.23$/, '.77'), port: 8045 }
    mkdirSync(config.stateDir, { mode: 0o700 })
    await change(config)
    const file = join(lab().state, 'changed.yaml')
    writeFileSync(file, stringify(config), { mode: 0o600 })
    return file
  }

  async function tried({
    before,
    world,
    config,
    start,
    listens = false,
    tls = false,
  }: Broken): Promise<{ doctor: string; apply?: string }> {
    if (start) {
      const file = await changedFile(start)
      const told = await faults(file)
      // In this process, unless it begins to listen: then it may end the process.
      const { code, stderr, stdout } = await (listens ? drawbridge : command)(['serve', '--config', file])
      expect(code).not.toBe(0)
      return { doctor: told, apply: `${stderr}${stdout}` }
    }
    const mendBefore = await before?.()
    try {
      await using _ = await serviceHere(lab(), config)
      const mend = await world?.()
      try {
        const told = await faults(configFile())
        // Another owner of the edge may be ending: an apply waits for that.
        using _hurried = mendBefore && hurriedClock()
        const apply = await refusal(tls)
        return { doctor: told, ...(apply !== undefined && { apply }) }
      } finally {
        await mend?.()
      }
    } finally {
      await mendBefore?.()
    }
  }

  test('a set-up that is well: doctor is green, a host is exposed, and looking leaves no record', async () => {
    await using _ = await serviceHere(lab())
    const before = await zoneRecords(lab())
    expect(await faults(configFile())).toBe('')
    expect(await zoneRecords(lab())).toEqual(before)
    expect([await refusal(false), await refusal(true)]).toEqual([undefined, undefined])
  })

  const chosen = BROKEN.filter(({ long }) => process.env.CAMPAIGN || !long)
  test.each(chosen.map((broken) => [broken.name, broken] as const))('%s', { timeout: 120_000 }, async (_, broken) => {
    const said = await tried(broken)
    expect(said.apply).toMatch(broken.apply)
    expect(said.doctor).toMatch(broken.doctor)
    expect(doubledIn(`${said.doctor}\n${said.apply}`)).toEqual([])
    expect(said.doctor).not.toContain('canary-password')
  })

  test('afterwards it is well again', async () => {
    await using _ = await serviceHere(lab())
    await until('doctor is green', async () => (await faults(configFile())) === '')
    expect(BROKEN.length).toBeGreaterThanOrEqual(25)
  })
}

interface Report {
  readonly ok: boolean
  readonly findings: readonly { readonly status: string; readonly sentence: string; readonly fix: string | null }[]
}

/** What doctor calls a fault, each with its fix on the next line. Empty if it is green. */
async function faults(file: string): Promise<string> {
  const { body, exitCode } = await doctor(file, false, doctorParts)
  const { ok, findings } = body as Report
  const told = findings.filter(({ status }) => status === 'fault').flatMap(({ sentence, fix }) => [sentence, fix ?? ''])
  expect({ ok, exitCode }).toEqual({ ok: told.length === 0, exitCode: told.length === 0 ? 0 : 1 })
  return told.join('\n')
}
