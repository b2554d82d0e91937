import { expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/primitives/clock.ts'
import { Diagnoser, type DiagnoserParts } from '../../../src/usecases/diagnoser.ts'

test('while the configuration of nginx cannot be read a diagnosis is not available, and its log says why', async () => {
  const fault = new Error('/etc/nginx/drawbridge/drawbridge.conf could not be read or written (EMFILE).')
  const onFault = vi.fn()
  const parts: Partial<DiagnoserParts> = {
    reader: { read: () => Promise.reject(fault) },
    store: { findExposure: async () => undefined, findPlan: async () => undefined },
    showsUnmanaged: () => true,
    clock: systemClock,
    onFault,
  }
  const diagnosis = new Diagnoser(parts as DiagnoserParts).diagnose('app.lab.test', { network: 'public' })
  await expect(diagnosis).rejects.toMatchObject({ code: 'unavailable', members: { retryAfter: 5 } })
  await expect(diagnosis).rejects.not.toThrow('/etc/nginx')
  expect(onFault).toHaveBeenCalledWith(fault, 'app.lab.test')
})
