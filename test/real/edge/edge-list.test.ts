import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PLAN_ID, startTestEdge } from '../../support/edge/edge.ts'

test('a list of named hosts reads their files only, and tells no lines of nobody', async () => {
  const at = await startTestEdge()
  try {
    const host = 'shop.lab.test'
    await at.place({ host, planId: PLAN_ID, target: 'http://127.0.0.1:9', proof: 'ab'.repeat(32) })
    appendFileSync(at.fileOf('backends', host), '# by hand\n')
    expect((await at.edge.list([])).stray).toMatchObject([{ lines: [expect.any(Number)] }])
    expect(await at.edge.list([host])).toMatchObject({ hosts: [{ host }], stray: [] })
  } finally {
    await at.stop()
  }
})
