import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from '../../../lab/program.ts'
import { runNginx } from '../../../src/edge/process/nginx-program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const threads = (): number =>
  readdirSync('/proc/self/task').filter((id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').includes('Worker'))
    .length

test('the thread that starts nginx ends when nobody needs it, and the next question begins another', async () => {
  const clock = new VirtualClock()
  using folder = tempFolder()
  const config = join(folder.path, 'nginx.conf')
  writeFileSync(config, `pid ${join(folder.path, 'nginx.pid')}; error_log stderr; events {}`)
  const tested = () => runNginx({ binary: findProgram('nginx', 'nginx'), prefix: folder.path, clock }, '-t', config)
  const before = threads()
  expect((await tested()).code).toBe(0)
  expect(threads()).toBe(before + 1)
  await clock.advance(29_000)
  expect((await tested()).code).toBe(0)
  await clock.advance(29_000)
  expect(threads()).toBe(before + 1)
  await clock.advance(2_000)
  await until('it has ended', () => threads() === before)
  expect((await tested()).code).toBe(0)
})
