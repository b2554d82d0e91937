import type { Diagnosis } from '../../../src/client/index.ts'
import { cannedDiagnosis, cannedRow } from '../../support/http/canned-page.ts'
import { test } from '../site/page-test.ts'

const HOST = 'flapping.lab.test'

/** An open diagnosis follows its badge. */
export function liveDiagnosis(): void {
  test('a badge that turns back during a diagnosis does not leave it red', async ({ canned, open }) => {
    canned.hosts = [cannedRow(HOST)]
    canned.diagnose = () => cannedDiagnosis(HOST, 'RUNNING')
    const page = await open(`/hosts/${HOST}`, canned.origin)
    const panel = page.getByRole('region', { name: `Diagnosis of ${HOST}` })
    const row = page.getByRole('row').filter({ hasText: HOST })
    await panel.getByText('Nothing needs to be done.').waitFor()

    const asked = Promise.withResolvers<void>()
    const found = Promise.withResolvers<Diagnosis>()
    canned.diagnose = () => {
      asked.resolve()
      return found.promise
    }
    canned.tell('row', cannedRow(HOST, { badge: 'DOWN' }))
    await asked.promise
    canned.tell('row', cannedRow(HOST))
    await row.getByText('RUNNING').waitFor()
    canned.diagnose = () => cannedDiagnosis(HOST, 'RUNNING')
    found.resolve(cannedDiagnosis(HOST, 'DOWN'))
    await panel.getByText('Nothing needs to be done.').waitFor()
  })
}
