import { expect, test } from 'vitest'
import { Problem } from '../../../src/model/errors.ts'
import { idInMark, type Receipt } from '../../../src/model/receipt.ts'
import { markFor, recordsToClaim, rewriteMarks } from '../../../src/runs/marks.ts'
import type { Exposure } from '../../../src/store/ports/exposures.ts'
import { sampleExposure, samplePlan } from '../../contract/samples.ts'

const PLAN = 'plan_0123456789abcdefghijklmnop'
const OWN = 'exposure_0123456789abcdefghijklmnop'

const exposed = (host: string, id: string): Exposure => {
  const mark = { name: `_drawbridge.${host}`, type: 'TXT', ttl: 60, value: `drawbridge ${id}` } as const
  const receipt: Receipt = { version: 2, records: [{ ...mark, name: host, type: 'A', value: '::1' }, mark] }
  return sampleExposure({ host, planId: `plan of ${host}`, receipt })
}

function books(exposures: readonly Exposure[], rewrite: (planId: string) => 'succeeded' | 'rolled_back' | Error) {
  const asked: string[] = []
  const rewriteMark = async (planId: string) => {
    asked.push(planId)
    const kind = rewrite(planId)
    if (kind instanceof Error) return { result: Promise.reject(kind) }
    return { result: Promise.resolve({ outcome: { kind, steps: [] } } as never) }
  }
  return { parts: { store: { listExposures: async () => [...exposures] }, exposer: { rewriteMark } }, asked }
}

test('only owner marks that name a plan are rewritten', async () => {
  const { parts, asked } = books([exposed('a.test', PLAN), exposed('b.test', OWN)], () => 'succeeded')
  expect(await rewriteMarks(parts)).toEqual({ rewritten: ['a.test'], failed: [] })
  expect(asked).toEqual(['plan of a.test'])
})

test('a host that cannot be changed now is told, and does not keep the others waiting', async () => {
  const hosts = ['a.test', 'b.test', 'c.test'].map((host) => exposed(host, PLAN))
  const { parts } = books(hosts, (planId) => {
    if (planId === 'plan of a.test') throw new Problem('plan_busy', 'Another run is under way.')
    return planId === 'plan of b.test' ? 'rolled_back' : 'succeeded'
  })
  expect(await rewriteMarks(parts)).toEqual({ rewritten: ['c.test'], failed: ['a.test', 'b.test'] })
})

test('a run that recovery has to finish does not keep the other hosts waiting', async () => {
  const hosts = ['a.test', 'b.test'].map((host) => exposed(host, PLAN))
  const { parts } = books(hosts, (planId) =>
    planId === 'plan of a.test' ? new Error('The store is gone.') : 'succeeded',
  )
  expect(await rewriteMarks(parts)).toEqual({ rewritten: ['b.test'], failed: ['a.test'] })
})

test('the apply of a plan that an earlier version made writes no plan id into DNS', () => {
  const { host, changes } = samplePlan()
  const made = (id: string) => {
    const mark = { kind: 'dns', action: 'create', name: `_drawbridge.${host}`, type: 'TXT', ttl: 60 } as const
    return samplePlan({ planId: PLAN, exposureId: PLAN, changes: [...changes, { ...mark, value: `drawbridge ${id}` }] })
  }
  const [address, mark] = recordsToClaim(made(PLAN))
  expect([address?.value, mark?.value]).toEqual(['127.0.45.23', markFor({ planId: PLAN, exposureId: PLAN })])
  expect(recordsToClaim(made(OWN))[1]?.value).toBe(`drawbridge ${OWN}`)
})

test('the new mark is always the same for a plan, holds no plan id, and keeps an id that the exposure has', () => {
  const mark = markFor({ planId: PLAN, exposureId: PLAN })
  expect(mark).toBe(markFor({ planId: PLAN, exposureId: PLAN }))
  expect(idInMark(mark)).toMatch(/^exposure_[0-9a-f]{32}$/)
  expect(markFor({ planId: PLAN, exposureId: OWN })).toBe(`drawbridge ${OWN}`)
})
