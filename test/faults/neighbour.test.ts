import { readdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLoad } from '../support/backends/load.ts'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { applied, invariants, planned, removed, run } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { installWildcard } from '../support/lab/wildcard.ts'

/** Applies and removals must not disturb other hosts. */
const ROUNDS = process.env.CAMPAIGN ? 15 : 2
let lab: TestLab
let takeWildcardAway: () => void
beforeAll(async () => {
  lab = await borrowLab()
  takeWildcardAway = await installWildcard(lab)
})
afterAll(async () => {
  takeWildcardAway?.()
  await lab?.stop()
})

test(
  `a neighbour under load sees no failed request in ${ROUNDS} rounds of apply, remove and failed applies`,
  async () => {
    await applied(lab, { subdomain: 'busy' })
    await using sick = await startWebBackend(lab, (_request, response) => response.writeHead(500).end())
    const { primary, secondary } = lab.description.edges
    const loads = [primary, secondary].map((edge) => startLoad(edge, 'busy.lab.test', '/healthz', { perSecond: 100 }))
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { planId } = await applied(lab, { subdomain: `round-${round}`, tls: round % 2 === 0 })
        if (round % 5 === 1) {
          const failing = await planned(lab, { subdomain: `sick-${round}`, port: sick.port })
          expect((await run(lab, failing.planId)).status).toBe(502)
        }
        await removed(lab, planId)
      }
    } finally {
      for (const load of loads) {
        const { served, failures } = await load.stop()
        expect(failures).toEqual([])
        expect(served).toBeGreaterThan(ROUNDS * 10)
      }
    }
    await invariants(lab)
  },
  ROUNDS * 30_000,
)

test('the folder that nginx loads never has an incomplete or untested file', async () => {
  const folder = lab.description.edges.primary.folder
  const seen: string[] = []
  const watcher = watch(folder, (_event, name) => {
    const text = name?.endsWith('.conf') ? readIfThere(join(folder, name)) : undefined
    if (text !== undefined) seen.push(`${name} ${isWhole(text) ? 'whole' : 'torn'}`)
  })
  const { planId } = await applied(lab, { subdomain: 'watched' })
  await using sick = await startWebBackend(lab, (_request, response) => response.writeHead(500).end())
  const failing = await planned(lab, { subdomain: 'fallen', port: sick.port })
  await run(lab, failing.planId)
  await removed(lab, planId)
  watcher.close()
  expect(new Set(seen)).toEqual(new Set(['drawbridge.conf whole']))
  expect(seen.length).toBeGreaterThan(2)
})

/** Whether a base file is complete, and the generation that it includes is there with all its lines. */
const isWhole = (text: string) => {
  const generation = /include (\S+generations\/\d+)\/backends/.exec(text)?.[1] ?? ''
  const lines = readdirSync(join(generation, 'backends')).map((name) => readIfThere(join(generation, 'backends', name)))
  return text.endsWith('/*.conf;\n') && lines.length > 0 && lines.every((all) => all?.endsWith(';\n'))
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
