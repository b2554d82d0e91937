import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ownFolder } from '../../../src/edge/files/folder-lock.ts'
import { leaveNginx } from '../../../src/edge/leave.ts'
import { servingWorkers } from '../../../src/edge/process/nginx-workers.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

let at: TestEdge
beforeEach(async () => {
  at = await startTestEdge()
})
afterEach(() => at?.stop())

const main = () => readFileSync(at.config, 'utf8')
const include = () => `include ${at.folder}/*.conf;`
/** Puts our include into a line of its own, or into one that it shares. */
const setInclude = (line: string) => {
  const bare = main()
    .split('\n')
    .filter((one) => !one.includes('drawbridge/*.conf'))
  const http = bare.findIndex((one) => one.startsWith('http {'))
  writeFileSync(at.config, bare.toSpliced(http + 1, 0, line).join('\n'))
  return bare.join('\n')
}

test.each([
  ['alone', () => `\t${include()}`],
  ['with a comment that names Drawbridge', () => `    ${include()} # added by drawbridge`],
])('takes the line out that has the include %s: the main file is as it was before', async (_, line) => {
  const before = setInclude(line())
  const { mode, uid } = statSync(at.config)
  const workers = servingWorkers(at.pid)
  expect(await leaveNginx(at)).toEqual({ edited: at.config, removed: at.folder, reloaded: true })
  expect(main()).toBe(before)
  expect([statSync(at.config).mode, statSync(at.config).uid]).toEqual([mode, uid])
  expect(existsSync(at.folder)).toBe(false)
  expect(servingWorkers(at.pid).filter((pid) => workers.includes(pid))).toEqual([])
  expect(readdirSync(dirname(at.config)).filter((name) => name.startsWith('.drawbridge'))).toEqual([])
})

test('leaves what others wrote into the same line', async () => {
  setInclude(`${include()} keepalive_timeout 60; # ours`)
  await leaveNginx(at)
  expect(main()).toContain('http {\n keepalive_timeout 60; # ours\n')
})

test('does nothing the second time', async () => {
  await leaveNginx(at)
  expect(await leaveNginx(at)).toEqual({ edited: null, removed: null, reloaded: false })
})

test('refuses while a host is served, and names it', async () => {
  await at.place({ host: 'here.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:3000' })
  const before = main()
  await expect(leaveNginx(at)).rejects.toThrow('still serves 1 hosts (here.lab.test)')
  expect([main(), existsSync(at.folder)]).toEqual([before, true])
})

test('refuses while an agent owns the folder', async () => {
  const release = ownFolder(at.folder)
  const before = main()
  await expect(leaveNginx(at)).rejects.toThrow('is in use by')
  release()
  expect([main(), existsSync(at.folder)]).toEqual([before, true])
})

test('changes nothing if nginx refuses the file without the line', async () => {
  writeFileSync(`${at.folder}/log.conf`, "log_format ours '$host';\n")
  const include = 'include drawbridge/*.conf;'
  const text = main().replace('access_log off;', '').replace(include, `${include}\n  access_log /dev/null ours;`)
  writeFileSync(at.config, text)
  const before = main()
  await expect(leaveNginx(at)).rejects.toThrow('nginx refuses')
  expect([main(), existsSync(at.folder)]).toEqual([before, true])
})
