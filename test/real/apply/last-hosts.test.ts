import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { viewOf } from '../../support/edge/edge-folder.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { applied, planned, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { rowsOf, withStore } from '../../support/lab/lab-store.ts'
import { forgetReleased } from '../../support/lab/released.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { until } from '../../support/until.ts'

let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
  await makeCertificate({ certificate: at('wildcard.pem'), key: at('wildcard.key'), names: ['DNS:*.lab.test'] })
})
afterAll(async () => {
  if (lab) forgetReleased(lab, ['one-accept.lab.test', 'two-accept.lab.test'])
  for (const name of ['wildcard.pem', 'wildcard.key']) rmSync(at(name), { force: true })
  await lab?.stop()
})

const at = (name: string) => join(lab.state, 'certificates', name)

const pairs = () => Object.values(lab.description.edges).map((edge) => viewOf(edge).certificates)

test.each(['remove', 'accept'] as const)(
  'the pair of the last two hosts that leave in one generation by %s is taken off both edges',
  async (action) => {
    const tls = true
    const last = [
      await applied(lab, { subdomain: `one-${action}`, tls }),
      await applied(lab, { subdomain: `two-${action}`, tls }),
    ]
    expect(pairs().map(({ length }) => length)).toEqual([1, 1])
    const other = await planned(lab, { subdomain: `other-${action}` })
    const begun = () => rowsOf(lab, "select run_id from journal where step = 'proxy' and mark = 'intent'").length
    const before = begun()
    const answers = await withStore(lab, async (store) => {
      const lease = await store.takeLease('edge 23', 'a test', Date.now(), 300_000)
      if (!lease) throw new Error('the lock of the Primary is held')
      // What comes while this change waits for the lock goes into the next generation together.
      const running = [run(lab, other.planId)]
      await until('the apply waits for the edge', () => begun() === before + 1)
      running.push(...last.map(({ planId }) => run(lab, planId, action)))
      await until('both others wait for the edge', () => begun() === before + 3)
      await store.releaseLease(lease)
      return Promise.all(running)
    })
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await until('no pair is left', async () => {
      await housekeeping(lab, 'converge')
      return pairs().every(({ length }) => length === 0)
    })
  },
  150_000,
)
