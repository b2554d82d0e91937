import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetUnused } from '../../../src/nginx/generations/unused-pairs.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { changeHost } from '../../support/edge/edge.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { nextTurn } from '../../support/stall.ts'

/** An administrator gives a host back the certificate that it had before a renewal. */
const HOST = 'a.lab.test'
const HOUR_MS = 3_600_000

async function startRenewed() {
  let now = systemClock.now()
  const clock = { ...systemClock, now: () => now }
  const at = await startEngine({ clock })
  const [former, renewed] = [await at.certificate(HOST), await at.certificate(HOST)]
  for (const certificate of [former, renewed]) await at.place({ ...entryOf(HOST), certificate })
  /** What the edge forgets in the next three hours. */
  const later = async (before?: number) => {
    for (const _ of [1, 2, 3]) {
      await forgetUnused({ ...at, clock }, before)
      now += HOUR_MS
    }
  }
  return Object.assign(at, { former, renewed, later })
}
type Renewed = Awaited<ReturnType<typeof startRenewed>>

async function assign({ present, former, renewed }: Renewed, written = former): Promise<void> {
  const { file } = present.whereIs(HOST, ['tls/hosts'])
  writeFileSync(file, readFileSync(file, 'utf8').replace(renewed, written))
  await nextTurn()
}

let port = 20
const changeAnother = (at: TestEngine) => at.place(entryOf('other.lab.test', ++port))

test.each(['as it is', 'in quotes'])('it stays as long as the line names it %s, and nginx has it', async (how) => {
  using at = await startRenewed()
  await assign(at, how === 'in quotes' ? `"${at.former}"` : at.former)
  await changeAnother(at)
  await at.later()
  await changeAnother(at)
  expect([at.pairs.has(at.former), at.present.hasPem(at.former), at.present.hasPem(at.renewed)]).toEqual([
    true,
    true,
    true,
  ])
  await at.place({ ...entryOf(HOST), certificate: at.renewed }, { mend: true })
  await at.later()
  expect(at.pairs.ids).toEqual([at.renewed])
})

test('it stays while a run may have to put such a line back', async () => {
  using at = await startRenewed()
  await assign(at)
  await changeAnother(at)
  const run = 'run_a1'
  await at.place(entryOf(HOST), { mend: true, run })
  await at.later()
  expect(at.pairs.ids.toSorted()).toEqual([at.former, at.renewed].toSorted())
  await changeHost(at.engine, HOST, 'before', { run })
  expect(at.present.hasPem(at.renewed)).toBe(true)
})

test('nginx keeps it also where its files are gone', async () => {
  using at = await startRenewed()
  await assign(at)
  await changeAnother(at)
  rmSync(join(at.folder, 'pairs', at.former), { recursive: true })
  await changeAnother(at)
  expect(at.present.hasPem(at.former)).toBe(true)
})

test('an id that the edge does not have is in the way of no change', async () => {
  using at = await startRenewed()
  await assign(at, '0'.repeat(32))
  await changeAnother(at)
  expect(at.present.hasPem(at.renewed)).toBe(true)
})
