import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { findProgram } from '../../../lab/program.ts'
import { runNginx } from '../../../src/nginx/process/nginx-program.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Threat 34. Whoever may look at nginx's processes, or is run by its configuration, learns no secret of ours. */
const folder = tempFolder()
const at = (name: string) => join(folder.path, name)
afterAll(() => folder[Symbol.dispose]())
afterEach(() => vi.unstubAllEnvs())

/** A stand-in that keeps the environment it was given and then is the real nginx. */
function standInNginx(): string {
  const script = `#!/bin/sh\ncat /proc/$$/environ > ${at('environment')}\ncut -d' ' -f1,6 /proc/$$/stat > ${at('session')}\nexec ${findProgram('nginx', 'nginx')} "$@"\n`
  writeFileSync(at('stand-in-nginx'), script, { mode: 0o755 })
  return at('stand-in-nginx')
}

test.each(['-t', '-T'] as const)('nginx %s is started without the secrets of the service', async (option) => {
  vi.stubEnv('DRAWBRIDGE_ADMIN_TOKEN', 'canary-admin-token')
  vi.stubEnv('DRAWBRIDGE_STORE', 'postgres://drawbridge:canary-password@127.0.0.1/drawbridge')
  vi.stubEnv('NGINX', '99;')
  vi.stubEnv('TZ', 'Europe/Berlin')
  writeFileSync(at('nginx.conf'), `pid ${at('nginx.pid')}; error_log stderr; events {}`)
  const { code } = await runNginx(
    { binary: standInNginx(), prefix: folder.path, clock: systemClock },
    option,
    at('nginx.conf'),
  )
  expect(code).toBe(0)
  // A session of its own, so that it has no terminal of root.
  const [pid, session] = readFileSync(at('session'), 'utf8').trim().split(' ')
  expect(session).toBe(pid)
  const given = readFileSync(at('environment'), 'utf8').split('\0').filter(Boolean)
  expect(given.join()).not.toContain('canary')
  const names = given.map((variable) => variable.slice(0, variable.indexOf('=')))
  expect(names).toEqual(expect.arrayContaining(['PATH', 'TZ']))
  expect(names.filter((name) => !['PATH', 'TZ', 'LD_LIBRARY_PATH', 'OPENSSL_CONF'].includes(name))).toEqual([])
})
