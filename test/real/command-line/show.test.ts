import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findProgram } from '../../../lab/program.ts'
import { entryLines } from '../../../src/operate/show.ts'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { startNginx } from '../../support/edge/nginx.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { type Answer, call } from '../../support/http/call.ts'
import { entryFile } from '../../support/lab/entry-file.ts'
import { applied } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let lab: TestLab

beforeAll(async () => {
  lab = await borrowLab()
})

afterAll(() => lab?.stop())

const run = promisify(execFile)
const show = (...args: string[]) => command(['show', ...args, '--config', join(lab.state, 'drawbridge.yaml')])

test('the printed blocks alone, in a bare nginx, answer as the edge does', async () => {
  // It answers with what it was asked: a header that the blocks lack would make a difference.
  await using backend = await startWebBackend(lab, ({ method, url, headers }, response) => {
    response.writeHead(203, { 'x-drawbridge-entry': 'of the backend' }).end(JSON.stringify({ method, url, headers }))
  })
  const { host } = await applied(lab, { subdomain: 'shown', port: backend.port, health: '/' })
  const { primary } = lab.description.edges
  const { stdout } = await show(host)
  const [first = ''] = stdout.split('\n')
  const file = entryFile(primary, host)
  expect(first).toMatch(new RegExp(`^# ${host} on edge 23: .*, line \\d+$`))
  expect(first).toContain(file)
  const line = Number(first.split(' ').at(-1))
  expect(readFileSync(file, 'utf8').split('\n')[line - 1]).toMatch(new RegExp(`^${host} http://`))
  const [, question = ''] = / = ([0-9a-f]{32})\)/.exec(stdout) ?? []
  const place = '127.0.46.9:8099'
  const nginx = await startNginx(stdout.replaceAll(/listen [^;]+;/g, `listen ${place};`), `http://${place}`)
  try {
    const forged = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1', proxy: 'http://192.0.2.1' }
    const kinds: Record<string, string>[] = [{}, forged, { 'x-drawbridge-question': question }]
    for (const more of kinds) {
      const asked = { path: '/some/path?q=1', headers: { host, ...more }, from: '127.0.0.1' }
      const [alone, edge] = [
        await call(`http://${place}`, asked),
        await call(`http://${primary.address}:${primary.http}`, asked),
      ]
      expect(edge).toMatchObject({ status: 203, body: { url: '/some/path?q=1', headers: { host } } })
      expect(comparable(alone)).toEqual(comparable(edge))
      expect(alone.headers['x-drawbridge-entry'] !== undefined).toBe('x-drawbridge-question' in more)
    }
  } finally {
    await nginx.stop()
  }
})

/** The date differs, and the name of the server is a setting of whoever runs nginx. */
const comparable = ({ headers: { date: _, server: __, ...headers }, ...answer }: Answer) => ({ ...answer, headers })

test('a host with TLS is shown with the names of a pair and without the pair, on either edge', async () => {
  const { host } = await applied(lab, { subdomain: 'shown-tls', tls: true })
  const { stdout } = await show(host)
  expect(stdout).toMatch(/listen [^;]+ ssl;/)
  expect(stdout).not.toMatch(/BEGIN|PRIVATE/)
  using folder = tempFolder()
  const path = (name: string) => join(folder.path, name)
  await makeCertificate({ certificate: path(`${host}.crt`), key: path(`${host}.key`), names: [`DNS:${host}`] })
  writeFileSync(path('nginx.conf'), `pid ${path('pid')};\nevents {}\nhttp { access_log off;\n${stdout}\n}\n`)
  await run(findProgram('nginx', 'nginx'), [
    '-t',
    '-q',
    '-e',
    path('errors'),
    '-p',
    folder.path,
    '-c',
    path('nginx.conf'),
  ])
  const other = await show(host, '--server', '73', '--json')
  expect(JSON.parse(other.stdout)).toMatchObject({
    host,
    server: '73',
    path: entryFile(lab.description.edges.secondary, host),
    line: expect.any(Number),
    text: expect.stringContaining(`server_name ${host};`),
  })
})

test('the first label is enough, and an unknown host or server is told', async () => {
  const { host } = await applied(lab, { subdomain: 'short' })
  expect((await show('short')).stdout).toContain(`server_name ${host};`)
  expect(await show('none.lab.test')).toMatchObject({
    code: 1,
    stderr: 'drawbridge: Edge 23 has no entry for none.lab.test. "drawbridge status" lists the hosts.\n',
  })
  expect(await show(host, '--server', '99')).toMatchObject({
    code: 2,
    stderr: 'drawbridge: No edge is configured for server 99. Edges: 23, 73.\n',
  })
  expect(await show('not/a/host')).toMatchObject({ code: 2 })
})

test('an entry that the store does not know is shown with the way to manage or remove it', () => {
  const entry = { host: 'a.lab.test', server: '23', path: '/x', line: null, text: 'server {}\n' }
  expect(entryLines({ ...entry, known: true })).toHaveLength(2)
  expect(entryLines({ ...entry, known: false }).join('\n')).toMatch(
    /does not know this host.*rebuild --from-world.*drawbridge down/s,
  )
})
