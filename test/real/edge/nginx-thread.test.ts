import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { findProgram } from '../../../lab/program.ts'
import { runNginx } from '../../../src/edge/process/nginx-program.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const threads = (): number =>
  readdirSync('/proc/self/task').filter((id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').includes('Worker'))
    .length

test('the thread that starts nginx ends when nobody needs it, and the next question begins another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  using folder = tempFolder()
  const config = join(folder.path, 'nginx.conf')
  writeFileSync(config, `pid ${join(folder.path, 'nginx.pid')}; error_log stderr; events {}`)
  const tested = () =>
    runNginx({ binary: findProgram('nginx', 'nginx'), prefix: folder.path, clock: systemClock }, '-t', config)
  const before = threads()
  expect((await tested()).code).toBe(0)
  expect(threads()).toBe(before + 1)
  vi.advanceTimersByTime(29_000)
  expect((await tested()).code).toBe(0)
  vi.advanceTimersByTime(29_000)
  expect(threads()).toBe(before + 1)
  vi.advanceTimersByTime(2_000)
  vi.useRealTimers()
  await until('it has ended', () => threads() === before)
  expect((await tested()).code).toBe(0)
})
