import { expect, test } from 'vitest'
import { Board } from '../../../src/monitor/board.ts'
import { Follower } from '../../../src/monitor/follower.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { samplePlan } from '../../contract/samples.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

/** The checking instance was killed, or the store is restored from a backup that was made in between. */
test('a host whose exposure ended before its row was deleted is not shown by an instance that starts', async () => {
  const { store } = await storeOfTest()
  const plan = samplePlan({ host: 'kept.lab.test', state: 'applied' })
  await store.insertPlan(plan)
  await store.insertExposure({ host: plan.host, planId: plan.planId, state: 'applied', fence: 1, since: 0 })
  const kept = { ...sampleStatus(), host: plan.host, planId: plan.planId }
  const removed = { ...kept, host: 'removed.lab.test', planId: 'plan_removed', isBlocked: true }
  const foreign = { ...kept, host: 'foreign.lab.test', planId: null, managed: false }
  await store.putHosts([kept, removed, foreign], 1)

  const board = new Board()
  const follower = new Follower({
    store,
    board,
    environment: undefined,
    firstAnswer: () => undefined,
    clock: systemClock,
  })
  for (const _round of ['first', 'later']) {
    await follower.update()
    expect([...board.all()].map(({ host }) => host).toSorted()).toEqual(['foreign.lab.test', 'kept.lab.test'])
  }
})
