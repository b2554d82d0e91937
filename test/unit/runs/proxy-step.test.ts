import { expect, test } from 'vitest'
import type { Edge, EdgeFile, EdgeProposal } from '../../../src/edge/contract.ts'
import { hashOf } from '../../../src/edge/files/files.ts'
import type { RunGuard } from '../../../src/model/run.ts'
import { type ProxyTarget, proxyStep } from '../../../src/runs/steps/proxy.ts'

const PATH = 'entries/app.lab.test'
const file = (content: string | null): EdgeFile => ({ path: PATH, content, secret: false })
const hash = (content: string | null) => ({ path: PATH, hash: hashOf(content) })
const GUARD: RunGuard = {
  assertHeld: () => undefined,
  ensureHeld: async () => undefined,
  leftMs: 1,
  fences: [],
  run: { run: 'run_a', store: 'store_a' },
  signal: new AbortController().signal,
}

/** A step that replaces `old` by `new`, on a stand-in for an edge that has one file and makes every change. */
function step({ stands, ours = [hash('old')], former = [file('old')] }: Given) {
  const world = { stands, changes: 0 }
  const edge = {
    hashFiles: async (paths: readonly string[]) => paths.map((path) => ({ path, hash: hashOf(world.stands) })),
    change: async ({ propose }: EdgeProposal) => {
      world.stands = (await propose()).files[0]?.content ?? null
      world.changes += 1
    },
  } as unknown as Edge
  const target: ProxyTarget = {
    name: 'proxy',
    ours: async () => ours,
    wanted: async () => [file('new')],
    former: async () => former,
    isRestored: async () => true,
  }
  const parts = { primary: edge, secondary: undefined, guard: GUARD, reached: () => undefined }
  const { do: act, undo } = proxyStep({ ...parts, judgeSecondary: undefined }, target)
  const noted: unknown[] = []
  return {
    world,
    noted,
    act: (before: Parameters<typeof act>[0] = null) => act(before, {}, async (image) => void noted.push(image)),
    undo: (image: Parameters<typeof undo>[0]) => undo(image, {}, async () => undefined),
  }
}
interface Given {
  readonly stands: string | null
  readonly ours?: Awaited<ReturnType<ProxyTarget['ours']>>
  readonly former?: readonly EdgeFile[]
}

const MADE = { before: [hash('old')], after: [hash('new')] }

test('notes what stood before it writes', async () => {
  const { act, noted, world } = step({ stands: 'old' })
  await act()
  expect([noted, world.stands]).toEqual([[MADE], 'new'])
})

test('refuses what somebody else wrote, and leaves it', async () => {
  const { act, world } = step({ stands: 'theirs' })
  await expect(act()).rejects.toMatchObject({ untouched: true, message: expect.stringContaining('outside Drawbridge') })
  expect(world).toEqual({ stands: 'theirs', changes: 0 })
})

test('after a crash it still knows what stood at first', async () => {
  const { act, noted } = step({ stands: 'new' })
  await act(MADE)
  expect(noted).toEqual([MADE])
})

test('after a crash it refuses what somebody wrote meanwhile', async () => {
  const { act, world } = step({ stands: 'theirs', ours: undefined })
  await expect(act(MADE)).rejects.toThrow('outside Drawbridge')
  expect(world.changes).toBe(0)
})

test('an undo puts back what stood before, and not over what somebody else wrote since', async () => {
  const one = step({ stands: 'new' })
  await one.undo(MADE)
  expect(one.world.stands).toBe('old')
  const edited = step({ stands: 'theirs' })
  await expect(edited.undo(MADE)).rejects.toThrow('outside Drawbridge')
  expect(edited.world).toEqual({ stands: 'theirs', changes: 0 })
})

test('an undo puts nothing back that did not stand there', async () => {
  const { undo, world } = step({ stands: 'new', former: [file('older')] })
  await expect(undo(MADE)).rejects.toThrow(`No backup holds ${PATH} as it was before the run.`)
  expect(world.stands).toBe('new')
})
