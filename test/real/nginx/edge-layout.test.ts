import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { viewOf } from '../../support/edge/edge-folder.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied, invariants, removed } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 90_000 })

/** The layout of the configuration is the layout of the edges after a start. */
let lab: TestLab
let plans: readonly { planId: string; host: string }[]
beforeAll(async () => {
  lab = await startTestLab()
  plans = await Promise.all(['one', 'two', 'three'].map((subdomain) => applied(lab, { subdomain })))
})
afterAll(() => lab?.stop())

const kindsOf = () =>
  Object.values(lab.description.edges).map((edge) => {
    const text = readFileSync(`${viewOf(edge).folder}/drawbridge.conf`, 'utf8')
    return text.includes('proxy_pass $drawbridge_backend') ? 'lines' : 'blocks'
  })

const agrees = () =>
  invariants(lab).then(
    () => true,
    () => false,
  )

test.each(['blocks', 'lines'])('changes to %s at the next start, without a failed request', async (layout) => {
  let isOver = false
  const failed: string[] = []
  const visiting = (async () => {
    while (!isOver)
      for (const { host } of plans) {
        const { status } = await visit(lab.description.edges.primary, { host })
        if (status !== 200) failed.push(`${host} ${status}`)
      }
  })()
  await lab.restartService((config) => {
    const edges = config.edges as Record<string, object>
    return {
      ...config,
      edges: Object.fromEntries(Object.entries(edges).map(([server, edge]) => [server, { ...edge, layout }])),
    }
  })
  await until(`both edges have ${layout}`, () => kindsOf().every((kind) => kind === layout), 60_000)
  await until('store, zone and edges agree', agrees, 60_000)
  isOver = true
  await visiting
  expect(failed).toEqual([])
})

test('hosts of both layouts are removed', async () => {
  for (const { planId } of plans) await removed(lab, planId)
  await until('store, zone and edges agree', agrees, 60_000)
})
