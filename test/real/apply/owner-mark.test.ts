import { afterAll, beforeAll, expect, test } from 'vitest'
import { idInMark } from '../../../src/model/receipt.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { zoneRecords } from '../../support/dns/zone-transfer.ts'
import { applied, expected, planned, removed, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { change, withStore } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

/** The owner mark is public, so it names an exposure and never a plan. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(() => lab?.stop())

const NAME = '_drawbridge.marked.lab.test'
const markInZone = async () => {
  const found = (await zoneRecords(lab)).filter(({ name }) => name === NAME)
  return idInMark(found[0]?.value.replaceAll('"', '') ?? '')
}

test('it survives a change of the exposure; one that names a plan is rewritten, and the host can be removed', async () => {
  const { planId } = await applied(lab, { subdomain: 'marked' })
  const mark = await markInZone()
  expect(mark).toMatch(/^exposure_/)
  const { planId: changed } = await planned(lab, { subdomain: 'marked', health: '/?2', replaces: planId })
  expected(await run(lab, changed), 200)
  expect(await markInZone()).toBe(mark)

  // As an earlier version left it.
  const text = `drawbridge ${planId}`
  updateZone(lab, `update delete ${NAME} TXT`, `update add ${NAME} 60 TXT "${text}"`)
  const { receipt } = (await withStore(lab, (store) => store.findExposure('marked.lab.test'))) ?? expect.fail()
  const records = receipt?.records.map((record) => (record.type === 'TXT' ? { ...record, value: text } : record))
  const statement = 'update exposures set receipt = ? where host = ?'
  change(lab, statement, JSON.stringify({ ...receipt, records }), 'marked.lab.test')
  change(lab, 'update plans set exposure_id = ? where plan_id = ?', planId, changed)
  const [{ sentence } = { sentence: '' }] = await housekeeping(lab, 'marks')
  expect(sentence).toBe('marks: 1 owner mark was rewritten.')
  expect(await markInZone()).toMatch(/^exposure_[0-9a-f]{32}$/)
  expect((await lab.call({ path: `/api/deploy/plans/${changed}/drift` })).body.differences).toEqual([])
  await removed(lab, changed)
  expect(await markInZone()).toBeUndefined()
})
