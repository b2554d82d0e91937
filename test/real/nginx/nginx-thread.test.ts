import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { findProgram } from '../../../lab/program.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.doUnmock('node:worker_threads')
  vi.resetModules()
})

test('the thread that starts nginx ends when nobody needs it, and the next question begins another', async () => {
  let threads = 0
  class Counted extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given)
      threads += 1
      this.once('exit', () => {
        threads -= 1
      })
    }
  }
  // Other files of this process have a thread of their own in the module as they loaded it.
  vi.resetModules()
  vi.doMock('node:worker_threads', () => ({ Worker: Counted }))
  const { runNginx } = await import('../../../src/nginx/process/nginx-program.ts')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  using folder = tempFolder()
  const config = join(folder.path, 'nginx.conf')
  writeFileSync(config, `pid ${join(folder.path, 'nginx.pid')}; error_log stderr; events {}`)
  const tested = () =>
    runNginx({ binary: findProgram('nginx', 'nginx'), prefix: folder.path, clock: systemClock }, '-t', config)
  expect((await tested()).code).toBe(0)
  expect(threads).toBe(1)
  vi.advanceTimersByTime(29_000)
  expect((await tested()).code).toBe(0)
  vi.advanceTimersByTime(29_000)
  expect(threads).toBe(1)
  vi.advanceTimersByTime(2_000)
  vi.useRealTimers()
  await until('it has ended', () => threads === 0)
  expect((await tested()).code).toBe(0)
  expect(threads).toBe(1)
})
