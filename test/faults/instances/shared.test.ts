import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { sampleEvent, sampleHost } from '../../contract/samples.ts'
import { startService, type TestService } from '../../support/http/service.ts'
import { borrowPostgres, KILL_OTHERS, type PostgresCluster, runSql } from '../../support/programs/postgres.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

/** What two services in this process share through one PostgreSQL. */
const PLANS_A_MINUTE = 6
const folder = tempFolder()
let postgres: PostgresCluster
let first: TestService
let second: TestService

beforeAll(async () => {
  postgres = await borrowPostgres()
  const settings = `store: ${postgres.url}
storeKeyFile: ${folder.path}/store.key
rateLimits: { public: { plan: ${PLANS_A_MINUTE} } }`
  first = await startService({ settings })
  const { network } = first
  second = await startService({ network, settings: `${settings}\nlisten: { address: ${network}.24, port: 8045 }` })
}, 120_000)
afterAll(async () => {
  await first?.stop()
  await second?.stop()
  await postgres?.stop()
  folder[Symbol.dispose]()
})

test('a caller has one budget on both instances', async () => {
  const codes: string[] = []
  for (let i = 0; i < PLANS_A_MINUTE + 2; i += 1) {
    const { body } = await (i % 2 ? first : second).call({ path: '/api/deploy/plan', body: {}, from: 'outside' })
    codes.push(body.code)
  }
  expect(codes).toEqual([...Array(PLANS_A_MINUTE).fill('invalid_request'), 'rate_limited', 'rate_limited'])
})

test('a second service without the key of the first is refused by a sentence that says which file to copy', async () => {
  await expect(startService({ network: first.network, settings: `store: ${postgres.url}` })).rejects.toThrow(
    'Copy that file from another instance',
  )
})

test('a commit is told to the other instance at once, and again after the connection was lost', async () => {
  const open = () => openStore({ kind: 'postgres', url: postgres.url })
  const [one, two] = [await open(), await open()]
  try {
    const told = { one: 0, two: 0 }
    one.watch(() => {
      told.one += 1
    })
    two.watch(() => {
      told.two += 1
    })
    await until('both listen', () => one.isWatching() && two.isWatching())
    await changes(one, told)
    const before = { ...told }
    await runSql(postgres.url, KILL_OTHERS)
    await until(
      'both listen again, and look for what they have missed',
      () => one.isWatching() && two.isWatching() && told.one > before.one && told.two > before.two,
    )
    await changes(one, told)
  } finally {
    await Promise.all([one.close(), two.close()])
  }
})

/** Each kind of commit that others follow. */
async function changes(store: Store, told: { one: number; two: number }): Promise<void> {
  const own = told.one
  const commits: readonly (() => Promise<unknown>)[] = [
    () => store.appendEvent(sampleEvent()),
    () => store.transaction((session) => session.putHosts([sampleHost()], Date.now())),
  ]
  for (const commit of commits) {
    const before = told.two
    await commit().catch(() => commit())
    await until('the other one is told', () => told.two > before)
  }
  expect(told.one).toBe(own)
}
