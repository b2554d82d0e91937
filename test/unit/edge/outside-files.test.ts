import { expect, test } from 'vitest'
import { OutsideFiles } from '../../../src/edge/agent/outside-files.ts'
import { hashOf } from '../../../src/edge/files/files.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const DAY_MS = 24 * 3_600_000
const released = (host: string) => ({ path: `released/${host}.conf`, content: `# ${host}\n`, secret: false })
const nothing = () => null

test('what a change wrote can be undone for as long as a person takes to resolve a blocked run', async () => {
  using folder = tempFolder()
  let now = Date.now()
  const file = released('shop.lab.test')
  const fault = () => new OutsideFiles(folder.path, () => now).undoFault(file.path, hashOf(file.content))
  expect(fault()).toContain('no change of this agent has written it')
  await new OutsideFiles(folder.path, () => now).note([file], nothing)
  now += 7 * DAY_MS
  expect(fault()).toBeUndefined()
  now += 30 * DAY_MS
  expect(fault()).toContain('wrote it more than 30 days ago, so it belongs to the administrator')
})

test('of changes that are noted at the same time none is lost', async () => {
  using folder = tempFolder()
  const files = Array.from({ length: 10 }, (_, at) => released(`shop-${at}.lab.test`))
  const outside = new OutsideFiles(folder.path, Date.now)
  await Promise.all(files.map((file) => outside.note([file], nothing)))
  expect(files.map(({ path, content }) => outside.undoFault(path, hashOf(content)))).toEqual(files.map(() => undefined))
})
