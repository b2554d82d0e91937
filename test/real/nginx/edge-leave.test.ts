import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderLock } from '../../../src/edge/fences/folder-lock.ts'
import { withInclude } from '../../../src/estate/reading/main-file.ts'
import { leaveNginx } from '../../../src/nginx/leave.ts'
import { servingWorkers } from '../../../src/nginx/process/nginx-workers.ts'
import { replaceWorkers } from '../../../src/nginx/process/reload.ts'
import { changeHost, PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { call } from '../../support/http/call.ts'

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
  expect(await leaveNginx(at)).toEqual({ edited: at.config, removed: at.folder, reloaded: true, released: [] })
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
  expect(await leaveNginx(at)).toEqual({ edited: null, removed: null, reloaded: false, released: [] })
})

test('refuses while a host is served, and names it', async () => {
  await at.place({ host: 'here.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:3000' })
  const before = main()
  await expect(leaveNginx(at)).rejects.toThrow('still serves 1 host (here.lab.test). If it is the Secondary, retire it')
  expect([main(), existsSync(at.folder)]).toEqual([before, true])
})

test('leaves with the hosts that it serves when it is retired', async () => {
  await at.place({ host: 'here.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:3000' })
  expect(await leaveNginx(at, { withHosts: true })).toMatchObject({
    edited: at.config,
    removed: at.folder,
    reloaded: true,
  })
  expect(existsSync(at.folder)).toBe(false)
  const visit = call(at.http, { path: '/', from: '127.0.0.1', headers: { host: 'here.lab.test' } })
  await expect(visit).rejects.toThrow('ECONNREFUSED')
})

test('refuses while a service or an agent owns the folder', async () => {
  const lock = new FolderLock(at.folder, at.server)
  lock.take()
  const before = main()
  await expect(leaveNginx(at)).rejects.toThrow(`Edge ${at.server} belongs to process ${process.pid}`)
  lock.release()
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

test('keeps an edit of the main file that is made while nginx tests', async () => {
  const binary = `${at.folder}/../nginx-that-takes-long`
  writeFileSync(binary, `#!/bin/sh\necho '# edited' >> ${at.config}\nexec ${at.binary} "$@"\n`, { mode: 0o755 })
  const edited = `${main()}# edited\n`
  await expect(leaveNginx({ ...at, binary })).rejects.toMatchObject({ kind: 'changed_meanwhile' })
  expect([main(), existsSync(at.folder)]).toEqual([edited, true])
  expect(readdirSync(dirname(at.config)).filter((name) => name.startsWith('.drawbridge'))).toEqual([])
})

test('does not change a main file that is not UTF-8, and says what to do', async () => {
  const text = Buffer.from(main().replace('http {', 'http {\n  root /srv/b\u00fcro;'), 'latin1')
  writeFileSync(at.config, text)
  await expect(leaveNginx(at)).rejects.toThrow(/is not written in UTF-8, .*include .* or remove it to leave, by hand/)
  expect(readFileSync(at.config)).toEqual(text)
  expect(existsSync(at.folder)).toBe(true)
})

/** Serves a host with TLS and releases it. `ask`: what a visitor gets over HTTP and HTTPS. */
async function releasedSite(host: string) {
  const backend = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const target = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  const certificate = await at.certificate(host)
  await at.place({ host, planId: PLAN_ID, target, certificate })
  await changeHost(at.edge, host, 'released')
  const ask = async () => {
    const { status, headers } = await call(at.http, { path: '/a', from: '127.0.0.1', headers: { host } })
    const port = at.ports.https
    const socket = connect({ host: at.address, port, servername: host, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const isOwn = socket.getPeerX509Certificate()?.fingerprint256 === certificate.fingerprint
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    const text = (await socket.setEncoding('utf8').toArray()).join('')
    return { status, location: headers.location, line: text.split('\r\n')[0], end: text.slice(-4), isOwn }
  }
  return { ask, stop: () => backend.close() }
}

test('released sites answer as before, from the main file, also after another reload and a second leave', async () => {
  const { ask, stop } = await releasedSite('given.lab.test')
  const before = await ask()
  expect(before).toMatchObject({ status: 308, line: 'HTTP/1.1 200 OK', end: 'here', isOwn: true })
  const file = `${at.folder}-released/given.lab.test.conf`
  expect(await leaveNginx(at)).toEqual({ edited: at.config, removed: at.folder, reloaded: true, released: [file] })
  expect(await ask()).toEqual(before)
  expect(main()).toContain(`include ${at.folder}-released/*.conf;`)
  expect(main()).not.toContain('drawbridge/*.conf')
  expect(await leaveNginx(at)).toEqual({ edited: null, removed: null, reloaded: false, released: [file] })
  await replaceWorkers(at)
  expect(await ask()).toEqual(before)
  stop()
})

test('a later installation includes released sites once: by its base file', async () => {
  const before = main()
  const { stop } = await releasedSite('given.lab.test')
  await leaveNginx(at)
  const again = withInclude(main(), at)
  expect(again).not.toContain('-released')
  expect(again.match(/include .*drawbridge.*;/g)).toEqual([include()])
  expect(again.split('\n')).toHaveLength(before.split('\n').length)
  stop()
})

test('refuses, and removes nothing, where nobody would include released sites', async () => {
  const { ask, stop } = await releasedSite('given.lab.test')
  const answered = await ask()
  const text = main().replace('include drawbridge/*.conf;', `include ${at.folder}/drawbridge.conf;`)
  writeFileSync(at.config, text)
  await expect(leaveNginx(at)).rejects.toThrow(`Add "include ${at.folder}-released/*.conf;" to its http block`)
  expect([main(), existsSync(at.folder)]).toEqual([text, true])
  expect(await ask()).toEqual(answered)
  stop()
})
