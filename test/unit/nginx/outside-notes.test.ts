import { expect, test } from 'vitest'
import { hashOf } from '../../../src/nginx/files/files.ts'
import { OutsideNotes } from '../../../src/nginx/files/outside-notes.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { unreadable } from '../../support/unreadable.ts'

const DAY_MS = 24 * 3_600_000
const released = (host: string) => ({ path: `released/${host}.conf`, content: `# ${host}\n`, secret: false })

test('what a run wrote can be undone by it for as long as a person takes to resolve a blocked run', async () => {
  using folder = tempFolder()
  let now = Date.now()
  const file = released('shop.lab.test')
  const notes = () => new OutsideNotes(folder.path, () => now)
  expect(notes().of('run_a')).toEqual(new Map())
  await notes().note('run_a', [file])
  now += 7 * DAY_MS
  expect(notes().of('run_a')).toEqual(new Map([[file.path, hashOf(file.content)]]))
  expect(notes().of('run_b')).toEqual(new Map())
  now += 30 * DAY_MS
  expect(notes().of('run_a')).toEqual(new Map())
})

test('of what a run wrote twice the last text counts', async () => {
  using folder = tempFolder()
  const file = released('shop.lab.test')
  const notes = new OutsideNotes(folder.path, Date.now)
  await notes.note('run_a', [{ ...file, content: 'former' }])
  await notes.note('run_a', [file])
  expect(notes.of('run_a').get(file.path)).toBe(hashOf(file.content))
})

test('of runs that are noted at the same time none is lost', async () => {
  using folder = tempFolder()
  const files = Array.from({ length: 10 }, (_, at) => released(`shop-${at}.lab.test`))
  const notes = new OutsideNotes(folder.path, Date.now)
  await Promise.all(files.map((file, at) => notes.note(`run_${at}`, [file])))
  expect(files.map(({ path }, at) => notes.of(`run_${at}`).get(path))).toEqual(
    files.map(({ content }) => hashOf(content)),
  )
})

test('notes that cannot be read are neither replaced nor taken for none', async () => {
  using folder = tempFolder()
  const [file, other] = [released('shop.lab.test'), released('wiki.lab.test')]
  const notes = new OutsideNotes(folder.path, Date.now)
  await notes.note('run_a', [file])
  {
    using _ = unreadable((path) => path.startsWith(folder.path))
    await expect(notes.note('run_b', [other])).rejects.toMatchObject({ kind: 'write_failed' })
    expect(() => notes.of('run_a')).toThrow('EACCES')
  }
  expect([...notes.of('run_a').keys()]).toEqual([file.path])
})
