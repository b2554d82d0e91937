import { describe, expect, test } from 'vitest'
import { hostRow } from '../../../src/http/routes/host-body.ts'
import type { HostStatus } from '../../../src/model/host-status.ts'
import { Board } from '../../../src/monitor/board.ts'
import { statusAfterCheck } from '../../../src/monitor/judge.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

const EVERY_MS = 30_000
const START = Date.parse('2026-01-01T00:00:00Z')
/** Ten thousand rows of this size are 6 MB. */
const MOST_BYTES_PER_ROW = 600

const checked = (before: HostStatus, at: number, latencyMs: number, httpStatus = 200): HostStatus =>
  statusAfterCheck(before, { answer: { kind: 'answer', httpStatus, latencyMs } }, at)

/** The changes that a listener hears of a host that answers with these latencies. */
function heard(latencies: readonly number[]): readonly string[] {
  const board = new Board()
  const kinds: string[] = []
  let status = checked(sampleStatus({ tls: false }), START, 5)
  board.put(status)
  board.listen(({ kind }) => kinds.push(kind))
  for (const [round, latencyMs] of latencies.entries()) {
    status = checked(status, START + (round + 1) * EVERY_MS, latencyMs)
    board.put(status)
  }
  return kinds
}

const endingAt = (notAfter: number): HostStatus => {
  const certificate = { notBefore: START, notAfter, level: 'ok', forHost: true } as const
  const status = sampleStatus()
  return { ...status, fullCheck: { ...status.fullCheck, certificate } }
}

describe('an open list of hosts', () => {
  test('is sent nothing about a host at rest, for a whole day', () =>
    expect(heard(Array.from({ length: 2_880 }, (_, round) => 5 + (round % 7)))).toEqual([]))

  test('is sent a latency that is another one', () => expect(heard([5, 900, 5])).toEqual(['row', 'row']))

  test('is sent the first change of a host after it was opened', () => {
    const board = new Board()
    const told: unknown[] = []
    board.put(endingAt(1))
    board.listen(({ kind }) => told.push(kind))
    board.put(endingAt(2))
    board.put(endingAt(2))
    expect(told).toEqual(['row'])
  })

  test('is sent a latency that has crept away from the one it was opened with', () =>
    expect(heard([190, 205, 230])).toEqual(['row']))

  test('is sent what changes from the list that it has loaded, not from that of an earlier page', () => {
    const board = new Board()
    const told: unknown[] = []
    const listen = () => board.listen(({ kind }) => told.push(kind))
    const close = listen()
    board.put(endingAt(1))
    close()
    board.put(endingAt(2))
    told.length = 0
    listen()
    board.put(endingAt(2))
    expect(told).toEqual([])
    board.put(endingAt(1))
    expect(told).toEqual(['row'])
  })

  test('is sent rows of at most 600 bytes for hosts that are only watched', () => {
    let status = sampleStatus({ host: 'h1234.lab.test', tls: false, managed: false, planId: null })
    for (let round = 0; round < 2_880; round += 1)
      status = checked(status, START + round * EVERY_MS, 400 + (round % 500))
    const row = JSON.stringify(hostRow(status, 'internal', START + 2_880 * EVERY_MS))
    expect(row.length).toBeLessThan(MOST_BYTES_PER_ROW)
  })
})
