import { expect, test, vi } from 'vitest'
import { demonstrated, runUntilEnd } from '../../../lab/run.ts'

test('a lab with a demonstration tells its description, and ends the demonstration before the lab', async () => {
  const ended: string[] = []
  class Described {
    readonly state = '/lab'
    get description() {
      return { api: 'http://lab' } as never
    }
    async stop() {
      ended.push('lab')
    }
  }
  const lab = demonstrated(new Described(), { stop: async () => void ended.push('demonstration') })
  expect(lab).toMatchObject({ state: '/lab', description: { api: 'http://lab' } })
  await lab.stop()
  expect(ended).toEqual(['demonstration', 'lab'])
})

test('what cannot say that it is ready is stopped, so that the program ends', async () => {
  const stop = vi.fn(async () => undefined)
  const told = runUntilEnd({
    start: async () => ({ stop }),
    readyText: () => {
      throw new Error('no tour')
    },
    endText: '',
  })
  await expect(told).rejects.toThrow('no tour')
  expect(stop).toHaveBeenCalledOnce()
})
