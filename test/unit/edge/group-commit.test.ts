import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { findFailing, GroupCommit, type Member } from '../../../src/edge/engine/group-commit.ts'
import { fc } from '../../support/fast-check.ts'

/** A commit that waits until it is let go, and notes what it was given. */
function held() {
  const batches: string[][] = []
  let current: { end: () => void; fail: (error: Error) => void } | undefined
  const group = new GroupCommit<string>(async (members: readonly Member<string>[]) => {
    batches.push(members.map(({ work }) => work))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    current = { end: resolve, fail: reject }
    await promise
    for (const member of members) member.resolve()
  })
  const end = async () => {
    current?.end()
    await setImmediate()
  }
  const fail = async (error: Error) => {
    current?.fail(error)
    await setImmediate()
  }
  return { group, batches, end, fail }
}

describe('a group commit', () => {
  test('begins at once with what comes first, and takes what waits together', async () => {
    const { group, batches, end } = held()
    expect(group.isIdle).toBe(true)
    const first = group.run('a')
    expect(batches).toEqual([['a']])
    expect(group.isIdle).toBe(false)
    const waiting = ['b', 'c', 'd'].map((work) => group.run(work))
    await setImmediate()
    expect(batches).toEqual([['a']])
    await end()
    await first
    expect(batches).toEqual([['a'], ['b', 'c', 'd']])
    await end()
    await Promise.all(waiting)
    expect(group.isIdle).toBe(true)
  })

  test('leaves out a member that was aborted while it waited, or before it came', async () => {
    const { group, batches, end } = held()
    const reason = new Error('the run must stop')
    const first = group.run('a')
    const controller = new AbortController()
    const aborted = group.run('b', controller.signal)
    const other = group.run('c')
    await expect(group.run('d', AbortSignal.abort(reason))).rejects.toBe(reason)
    controller.abort(reason)
    await expect(aborted).rejects.toBe(reason)
    await end()
    await end()
    await Promise.all([first, other])
    expect(batches).toEqual([['a'], ['c']])
  })

  test('rejects all members of a commit that throws, and goes on with later ones', async () => {
    const { group, batches, end, fail } = held()
    const first = group.run('a')
    const [b, c] = [group.run('b'), group.run('c')]
    const failed = Promise.allSettled([b, c])
    await end()
    await first
    const later = group.run('d')
    const error = new Error('the disk is full')
    await fail(error)
    expect(await failed).toEqual(Array(2).fill({ status: 'rejected', reason: error }))
    await end()
    await later
    expect(batches).toEqual([['a'], ['b', 'c'], ['d']])
  })

  test('commits again what a commit left, with those that came meanwhile', async () => {
    const batches: string[][] = []
    const group = new GroupCommit<string>(async (members) => {
      batches.push(members.map(({ work }) => work))
      await setImmediate()
      members[0]?.resolve()
    })
    await Promise.all(['a', 'b', 'c'].map((work) => group.run(work)))
    expect(batches).toEqual([['a'], ['b', 'c'], ['c']])
  })

  test('hears no signal after its member is settled', async () => {
    const group = new GroupCommit<string>(async (members) => members[0]?.resolve())
    const controller = new AbortController()
    await group.run('a', controller.signal)
    controller.abort(new Error('too late'))
  })
})

describe('the search for a failing member', () => {
  const search = async (count: number, bad: (items: readonly number[]) => boolean) => {
    let tests = 0
    const items = Array.from({ length: count }, (_, at) => at)
    const found = await findFailing(items, async (some) => {
      tests += 1
      return !bad(some)
    })
    return { found, tests }
  }

  test('finds the one of any number, with few tests', async () => {
    const counted = fc.integer({ min: 2, max: 200 }).chain((count) => fc.tuple(fc.constant(count), fc.nat(count - 1)))
    await fc.assert(
      fc.asyncProperty(counted, async ([count, at]) => {
        const { found, tests } = await search(count, (items) => items.includes(at))
        expect(found).toBe(at)
        // The test of all and that of none come before.
        expect(2 + tests).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(count)) + 2)
      }),
    )
  })

  test('finds one of several', async () => {
    const { found } = await search(64, (items) => items.some((item) => [3, 17, 50].includes(item)))
    expect([3, 17, 50]).toContain(found)
  })

  test('finds none where they only fail together', async () => {
    const { found } = await search(64, (items) => items.includes(3) && items.includes(40))
    expect(found).toBeUndefined()
  })
})
