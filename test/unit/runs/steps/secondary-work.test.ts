import { describe, expect, test, vi } from 'vitest'
import type { Edge } from '../../../../src/edge/contract/edge.ts'
import { EdgeFault } from '../../../../src/edge/contract/fault.ts'
import { EdgeStandings } from '../../../../src/runs/edge-standings.ts'
import { SecondaryWork } from '../../../../src/runs/steps/secondary.ts'
import { nextTurn, stall } from '../../../support/stall.ts'
import { VirtualClock } from '../../../support/virtual-clock.ts'

const edge = { server: '73' } as Edge
const HOST = 'app.lab.test'
const nothing = async () => undefined

function workOn({ waitMs = 10_000 } = {}) {
  const clock = new VirtualClock()
  const standings = new EdgeStandings(() => Date.UTC(2026, 0, 1))
  return { clock, standings, work: () => new SecondaryWork({ edge, host: HOST, standings, waitMs, clock }) }
}

/** A change that only ends when it is aborted, as one that waits for others does. */
const waiting = (seen: AbortSignal[]) => (_edge: Edge, signal: AbortSignal) => {
  seen.push(signal)
  return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe('the work of a run on the Secondary', () => {
  test('is judged after the change', async () => {
    const { work } = workOn()
    const one = work()
    const judged = { ok: true, detail: 'HTTP 200', httpStatus: 200 }
    one.begin(nothing, async () => judged)
    const report = await one.report()
    expect(one.verdict(report)).toEqual({ server: '73', ...judged, optional: true, inStep: true })
  })

  test('is given up in time, and the change that has not begun is cancelled', async () => {
    const { work, standings, clock } = workOn({ waitMs: 20 })
    const one = work()
    const signals: AbortSignal[] = []
    one.begin(waiting(signals))
    const report = await clock.advanceUntil(one.report())
    expect(report).toMatchObject({ ok: false })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    const outOfStep = { cause: 'catching_up', since: '2026-01-01T00:00:00.000Z', hosts: 1 }
    expect(one.verdict(report)).toMatchObject({ inStep: false, outOfStep })
    // A run that was late is no reason to leave the edge out.
    expect(standings.unfit('73')).toBeUndefined()
  })

  test('is not given up because this process was late', async () => {
    const { work } = workOn({ waitMs: 100 })
    const report = await work().make(async () => {
      await nextTurn()
      stall(500)
      await nextTurn()
    })
    expect(report).toMatchObject({ ok: true })
  })

  test.each([
    ['away', new EdgeFault('not_reloaded', 'nginx does not run.')],
    ['away', new EdgeFault('away', 'The agent of edge 73 does not answer.')],
    ['config_broken', new EdgeFault('config_broken', 'The configuration is broken.')],
    ['disk_full', new EdgeFault('write_failed', '/edge could not be read or written (ENOSPC).')],
    ['not_writable', new EdgeFault('write_failed', '/edge could not be read or written (EROFS).')],
  ])('leaves out an edge that is known to be %s, until it is reported to be back', async (cause, fault) => {
    const { work, standings } = workOn()
    const first = work()
    first.begin(() => Promise.reject(fault))
    const report = await first.report()
    expect(report.detail).toContain(fault.message)
    expect(first.verdict(report).outOfStep?.cause).toBe(cause)

    const change = vi.fn(async () => undefined)
    const second = work()
    second.begin(change)
    expect((await second.report()).detail).toContain('has taken no change since 2026-01-01T00:00:00.000Z')
    expect(change).not.toHaveBeenCalled()

    standings.report({ server: '73', entries: 1, behind: [], orphans: [], doubtful: [], unknown: [], stray: [] })
    const third = work()
    third.begin(change)
    expect(await third.report()).toMatchObject({ ok: true })
    expect(change).toHaveBeenCalledOnce()
  })

  test('of a change that only this host fails leaves the edge in', async () => {
    const { work, standings } = workOn()
    const one = work()
    one.begin(() => Promise.reject(new EdgeFault('change_invalid', 'nginx rejected the change.')))
    expect(await one.report()).toMatchObject({ ok: false })
    expect(standings.unfit('73')).toBeUndefined()
  })

  test('has ended before it is undone', async () => {
    const { work } = workOn()
    const one = work()
    const signals: AbortSignal[] = []
    one.begin(waiting(signals))
    await one.end()
    expect(signals[0]?.aborted).toBe(true)
    expect(await one.make(async () => undefined)).toMatchObject({ ok: true })
  })
})
