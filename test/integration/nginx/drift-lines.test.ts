import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { driftLines } from '../../../src/nginx/drift-lines.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'

const HOST = 'shop.lab.test'
let at: TestEngine
beforeEach(async () => {
  at = await startEngine()
  await at.place(entryOf(HOST, 9))
})
afterEach(() => at[Symbol.dispose]())

const linesOf = () => {
  const nginx = {
    config: join(at.folder, 'none'),
    prefix: undefined,
    binary: 'none',
    pidFile: 'none',
    errorLog: 'none',
  }
  const place = { address: '127.0.0.1', listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }
  return driftLines({ ...nginx, ...place, folder: at.folder, server: '23', clock: systemClock }, HOST)
}
const edit = (change: (text: string) => string) => {
  const { file } = at.present.whereIs(HOST)
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

test('an edited and a deleted line are told as applied and as found, and nothing where nothing differs', async () => {
  expect(await linesOf()).toEqual([])
  edit((text) => text.replace(':9;', ':10;'))
  const expected = [`${HOST} http://127.0.0.1:9;`]
  expect(await linesOf()).toEqual([{ field: 'backend', expected, found: [`${HOST} http://127.0.0.1:10;`] }])
  edit(() => '')
  expect(await linesOf()).toEqual([{ field: 'backend', expected, found: [] }])
})

test('another user than root and the owner of the folder is told no line', async () => {
  edit((text) => text.replace(':9;', ':10;'))
  const user = vi.spyOn(process, 'getuid').mockReturnValue(4_242)
  expect(await linesOf().finally(() => user.mockRestore())).toBeUndefined()
})
