import { describe, expect, it } from 'vitest'
import type { Bench } from '../engines.ts'

export const identitySuite = (on: Bench) =>
  describe('the epoch of a store', () => {
    it('is the time at which the store was created', async () => {
      const before = Date.now()
      const epoch = await (await on.open()).epoch()
      expect(epoch).toBeGreaterThanOrEqual(before)
      expect(epoch).toBeLessThanOrEqual(Date.now())
    })

    it('is the same for every instance, in a transaction, and after a restart', async () => {
      const [one, two] = await Promise.all([on.open(), on.open()])
      const epoch = await one.epoch()
      expect([await two.epoch(), await two.transaction((session) => session.epoch())]).toStrictEqual([epoch, epoch])
      await one.close()
      expect(await (await on.open()).epoch()).toBe(epoch)
    })
  })
