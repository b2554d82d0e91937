import { expect, test } from 'vitest'
import type { HostStatus } from '../../../src/model/host-status.ts'
import { Board } from '../../../src/monitor/board.ts'
import { StatusWriter } from '../../../src/monitor/status-writer.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { sampleStatus } from '../../support/http/host-status.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

test('nothing is written after another instance has taken the lease of the monitor', async () => {
  const written: string[] = []
  const store = {
    transaction: async () => void written.push('statuses'),
    addHistory: async () => void written.push('counts'),
  } as unknown as Store
  let isHeld = false
  const ensureHeld = async () => {
    if (!isHeld) throw new Error('The lease was lost.')
  }
  const writer = new StatusWriter(
    store,
    new Board(),
    () => ({ afterMs: 0, isMuted: false }),
    ensureHeld,
    new VirtualClock(),
  )
  writer.remove('shop.lab.test')
  await expect(writer.flush(true)).rejects.toThrow('The lease was lost.')
  expect(written).toEqual([])
  isHeld = true
  await writer.flush(true)
  expect(written).toEqual(['statuses', 'counts'])
})

test('statuses and counts are written on while the clock is set back', async () => {
  const written: string[] = []
  const session = {
    deleteHosts: async () => undefined,
    putHosts: async (statuses: readonly HostStatus[]) => void written.push(...statuses.map(({ host }) => host)),
  }
  const store = {
    hostsSummary: async () => ({ version: 1 }),
    readHosts: async () => [sampleStatus()],
    transaction: async (work: (store: unknown) => Promise<void>) => work(session),
    addHistory: async () => void written.push('counts'),
  } as unknown as Store
  const clock = new VirtualClock()
  const rule = { afterMs: 0, isMuted: false }
  const writer = new StatusWriter(
    store,
    new Board(),
    () => rule,
    async () => undefined,
    clock,
  )
  await writer.begin()
  clock.setBack(7_200_000)
  await clock.advance(59_999)
  await writer.flush()
  expect(written).toEqual(['counts'])
  await clock.advance(10_001)
  await writer.flush()
  expect(written).toEqual(['counts', sampleStatus().host])
  await clock.advance(3_000)
  await writer.flush()
  expect(written).toEqual(['counts', sampleStatus().host, 'counts'])
})
