import { expect, test } from 'vitest'
import type { EdgeView } from '../../../src/edge/contract/edge.ts'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import { findDrift } from '../../../src/usecases/drift.ts'
import { sampleExposure, samplePlan } from '../../contract/samples.ts'

test('a Primary that does not tell is no drift and no internal error: the caller may ask again', async () => {
  const plan = samplePlan({ state: 'applied' })
  const { host, planId } = plan
  const away = async () => {
    throw new EdgeFault('away', 'Edge 23 does not answer.')
  }
  const parts = {
    store: {
      findPlan: async () => plan,
      findExposure: async () =>
        sampleExposure({ host, planId, state: 'applied', receipt: { version: 2, records: [] } }),
    },
    view: { list: away, handshake: away, address: '127.0.0.1', ports: { http: 80, https: 443 } } as unknown as EdgeView,
    onSecondary: async () => undefined,
    hasCertificate: async () => true,
    readerFor: () => ({ server: '127.0.0.1' }) as never,
    readSets: async () => [],
  }
  await expect(findDrift(parts, planId)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Edge 23 does not answer.',
    members: { retryAfter: 5 },
  })
})
