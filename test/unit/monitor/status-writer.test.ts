import { expect, test } from 'vitest'
import { Board } from '../../../src/monitor/board.ts'
import { StatusWriter } from '../../../src/monitor/status-writer.ts'
import type { Store } from '../../../src/store/ports/store.ts'

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
  const writer = new StatusWriter(store, new Board(), () => ({ afterMs: 0, isMuted: false }), ensureHeld)
  writer.remove('shop.lab.test')
  await expect(writer.flush(1_000_000, true)).rejects.toThrow('The lease was lost.')
  expect(written).toEqual([])
  isHeld = true
  await writer.flush(1_000_000, true)
  expect(written).toEqual(['statuses', 'counts'])
})
