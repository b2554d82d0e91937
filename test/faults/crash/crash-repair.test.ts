import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { editEntry, entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, expected, granted, invariants, planOf, run, runWith } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { installWildcard } from '../../support/lab/wildcard.ts'
import { until } from '../../support/until.ts'

/** The service dies at a point of a repair or an accept, and the next process ends the run: wholly done, or wholly undone. */
vi.setConfig({ testTimeout: 90_000 })

/**
 * Not walked here: what needs an order, and the undo of the last step of an accept, which fails only together with the
 * DNS server.
 */
const isElsewhere = (point: string): boolean =>
  / proxy-tls | challenge-set$/.test(point) || /^accept dns (?:before|after)-und/.test(point)
const ALL = CRASH_POINTS.filter((point) => /^(?:repair|accept) /.test(point) && !isElsewhere(point))
const SOME = ['repair dns after-undo']
const POINTS = process.env.CAMPAIGN ? ALL : SOME

const DECIDED = / (?:verify after-done|tidy \S+|run before-finish|run after-finish)$/
const goesBack = (point: string): boolean => / (?:before|after)-und/.test(point)

let lab: TestLab
let backend: WebBackend
let isSick = false
let takeWildcardAway: () => void
let count = 0

beforeAll(async () => {
  lab = await borrowLab('mortal')
  backend = await startWebBackend(lab, (_request, response) => {
    response.writeHead(isSick ? 500 : 200).end('ok')
  })
  takeWildcardAway = await installWildcard(lab)
})
afterAll(async () => {
  takeWildcardAway?.()
  await lab?.stop()
  await backend?.[Symbol.asyncDispose]()
})

const entry = (host: string) => entryFile(lab.description.edges.primary, host)
const drift = async (planId: string) =>
  expected(await lab.call({ path: `/api/deploy/plans/${planId}/drift` }), 200).differences as { part: string }[]

async function damaged(): Promise<{ planId: string; host: string }> {
  count += 1
  const host = `mend${count}.lab.test`
  const { planId } = await applied(lab, { subdomain: `mend${count}`, port: backend.port, tls: true })
  editEntry(entry(host), host)
  updateZone(lab, `update delete ${host} A`, `update add ${host} 60 A 192.0.2.77`)
  return { planId, host }
}

test.each(POINTS)('killed at "%s"', async (point) => {
  const [action] = point.split(' ') as ['repair' | 'accept']
  const { planId, host } = await damaged()
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: point })
  await lab.restartService()
  const capability = await granted(lab, planId, action)
  const { pidFile } = lab.description.edges.primary
  const pid = readFileSync(pidFile)
  if (goesBack(point) && action === 'repair') isSick = true
  else if (goesBack(point)) writeFileSync(pidFile, '')
  const death = lab.serviceRestarted()
  const answer = await runWith(
    lab,
    capability,
    planId,
    action,
    {},
    action === 'repair' ? { overwrite: true } : {},
  ).catch(() => undefined)
  if (!answer) await death
  isSick = false
  writeFileSync(pidFile, pid)
  if (answer) throw new Error(`${point} was not reached: ${answer.status} ${answer.text}`)
  await until('the run has ended', () => rowsOf(lab, "select 1 from runs where state = 'running'").length === 0)
  const { state } = await planOf(lab, planId)
  if (action === 'accept') {
    expect(state).toBe(goesBack(point) ? 'applied' : 'released')
    expect(hasEntry(lab.description.edges.primary, host)).toBe(goesBack(point))
    const { primary, secondary } = lab.description.edges
    const [released, ...more] = [primary, secondary].map(({ folder }) => join(`${folder}-released`, `${host}.conf`))
    expect(existsSync(released ?? '')).toBe(!goesBack(point))
    // The host is not ours any more: whoever has it takes it away before the invariants of the next case.
    for (const path of [released ?? '', ...more]) rmSync(path, { force: true })
    if (state === 'released') updateZone(lab, `update delete ${host} A`)
  } else {
    expect(state).toBe('applied')
    const parts = [...new Set((await drift(planId)).map(({ part }) => part))].sort()
    expect(parts).toEqual(DECIDED.test(point) ? [] : ['entry', 'record'])
  }
  if (state === 'applied') {
    expected(await run(lab, planId, 'repair', {}, { overwrite: true }), 200)
    expect(await drift(planId)).toEqual([])
    await invariants(lab)
    expected(await run(lab, planId, 'remove'), 200)
  }
})
