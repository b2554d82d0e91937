import { execFileSync, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { addressesAt, listenersOf } from '../../../lab/addresses.ts'
import { startDemo } from '../../../lab/demo.ts'
import { isPortFree } from '../../../lab/free-port.ts'
import { startLab } from '../../../lab/lab.ts'
import { tour } from '../../../lab/tour.ts'
import { get } from '../../../lab/web-question.ts'
import { call } from '../../support/http/call.ts'
import { freePlace, startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

describe('a running lab', () => {
  let lab: TestLab
  beforeAll(async () => {
    lab = await borrowLab()
  })
  afterAll(() => lab?.stop())

  test('lab.json tells a script everything', () => {
    const told = readJson(join(lab.state, 'lab.json'))
    // Who borrows the lab has callers of its own.
    expect({ ...told, callers: {} }).toEqual({ ...lab.description, callers: {} })
    expect(Object.keys(told).sort()).toEqual(
      'acme adminTokenFile api backends callers dns edges inside log outside pids zone'.split(' '),
    )
    expect(Object.keys(told.edges.primary).sort()).toEqual(
      'address config errorLog folder hosts http https pidFile prefix server'.split(' '),
    )
    for (const pid of Object.values<number>(told.pids)) expect(isAlive(pid)).toBe(true)
    expect(readFileSync(told.edges.primary.pidFile, 'utf8').trim()).toBe(String(told.pids.edgePrimary))
  })

  test('the service has begun again with one heap for all its threads, as the same process', () => {
    const settings = readFileSync(`/proc/${lab.description.pids.service}/environ`, 'utf8').split('\0')
    expect(settings).toContain('MALLOC_ARENA_MAX=1')
    expect(settings).toContain('UV_THREADPOOL_SIZE=16')
  })

  test('secret files hold the bare value and nobody else can read them', () => {
    const { adminTokenFile, dns } = lab.description
    for (const file of [adminTokenFile, dns.tsig.secretFile]) {
      expect(readFileSync(file, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=$/)
      expect(statSync(file).mode & 0o077).toBe(0)
    }
  })

  test('a change at the primary reaches the secondary', async () => {
    const { dns, zone } = lab.description
    updateZone(lab, `add news.${zone} 60 A 127.0.0.9`)
    await until('the secondary has the record', () => addressOf(`news.${zone}`, dns.secondary.port) === '127.0.0.9')
    expect(addressOf(`ns1.${zone}`, dns.secondary.port)).toBe(lab.description.edges.primary.address)
    expect(addressOf(`ns2.${zone}`, dns.secondary.port)).toBe(lab.description.edges.secondary.address)
    updateZone(lab, `delete news.${zone}`)
  })

  test.each(['primary', 'secondary'] as const)('the %s edge refuses names that nobody serves', async (name) => {
    const { address, http, https } = lab.description.edges[name]
    expect(await call(`http://${address}:${http}`, { path: '/', from: '127.0.0.1' })).toMatchObject({ status: 404 })
    expect(await handshakeError(address, https)).toMatch(/unrecognized name/)
  })

  test("a file beside the edge's own is served after a reload", async () => {
    const { address, http, folder, hosts, pidFile } = lab.description.edges.primary
    expect(readdirSync(hosts)).toEqual([])
    const own = join(folder, 'x.lab.test.conf')
    writeFileSync(
      own,
      `server { listen ${address}:${http}; server_name x.lab.test; location / { return 200 "here"; } }\n`,
    )
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGHUP')
    const headers = { host: 'x.lab.test' }
    const origin = `http://${address}:${http}`
    await until(
      'x is served',
      async () => (await call(origin, { path: '/', from: '127.0.0.1', headers })).text === 'here',
    )
    rmSync(own)
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGHUP')
  })

  test('the certificate authority answers and its root is known', async () => {
    const { directory, ca } = lab.description.acme
    const trust = readFileSync(join(lab.state, 'pebble', 'api-cert.pem'), 'utf8')
    const answer = await get(directory, trust)
    expect(JSON.parse(answer?.body ?? '')).toHaveProperty('newOrder')
    expect(new X509Certificate(readFileSync(ca)).ca).toBe(true)
  })

  test('of the sample backends one is healthy and one is not', async () => {
    const statuses = await Promise.all(
      lab.description.backends.map(async ({ server, address, port }) => {
        const origin = `http://${address}:${port}`
        const page = await call(origin, { path: '/', from: '127.0.0.1' })
        expect(page.text).toContain(`server ${server}`)
        return [server, (await call(origin, { path: '/healthz', from: '127.0.0.1' })).status]
      }),
    )
    expect(statuses).toEqual([
      ['25', 200],
      ['253', 503],
    ])
  })

  test('callers and relays are who they should be', async () => {
    const seen = async (origin: string, from: string) => (await call(origin, { path: '/api/policy', from })).body.caller
    const { api, callers, inside, outside } = lab.description
    expect(await seen(api, callers.internal)).toMatchObject({ network: 'internal' })
    expect(await seen(api, callers.public)).toMatchObject({ network: 'public' })
    expect(await seen(inside, '127.0.0.1')).toMatchObject({ network: 'internal' })
    expect(await seen(outside, '127.0.0.1')).toMatchObject({ network: 'public' })
  })

  test('the tour works as it is printed', () => {
    const script = tour(lab.description, lab.state)
      .split('\n')
      .filter((line) => /^(API=|PLAN=|CAPABILITY=|curl )/.test(line))
    const printed = execFileSync('sh', { input: script.join('\n'), encoding: 'utf8' })
    const [policy, plan, refusal, applied, page, removed, unhealthy] = printed.split('\n').filter((line) => line !== '')
    expect(JSON.parse(policy ?? '')).toMatchObject({ flow: 'capability', zones: ['lab.test'] })
    expect(JSON.parse(plan ?? '')).toMatchObject({ state: 'planned', host: 'hello.lab.test' })
    expect(JSON.parse(refusal ?? '')).toMatchObject({ code: 'internal_network_required' })
    expect(JSON.parse(applied ?? '')).toMatchObject({
      state: 'applied',
      verification: { primary: { server: '23', ok: true } },
    })
    expect(page).toContain('the sample backend on server 25')
    expect(JSON.parse(removed ?? '')).toMatchObject({ state: 'removed', host: 'hello.lab.test' })
    expect(JSON.parse(unhealthy ?? '')).toMatchObject({ code: 'backend_unhealthy' })
    expect(printed).not.toContain('cap_')
  })

  test('a second lab on the same state is refused by name', async () => {
    const second = startLab({ state: lab.state, place: await freePlace(), service: false })
    await expect(second).rejects.toThrow(`A lab already runs on ${lab.state} (pid ${process.pid})`)
    expect(readJson(join(lab.state, 'lab.json')).pids).toEqual(lab.description.pids)
  })
})

describe('the end of a lab', () => {
  test.runIf(process.env.CAMPAIGN)(
    'leaves no process and no port; a new start is refused beside processes of before, finds everything again, and gives up a service that keeps dying',
    async () => {
      using folder = tempFolder()
      const lost = Promise.withResolvers<Error>()
      const options = { state: join(folder.path, 'lab'), place: await freePlace(), onServiceLost: lost.resolve }
      const first = await startLab(options)
      updateZone(first, 'add kept.lab.test 60 A 127.0.0.9')
      const { lab: own, ...pids } = first.description.pids
      expect(own).toBe(process.pid)
      await first.stop()
      expect(Object.values(pids).filter(isAlive)).toEqual([])
      for (const { address, port } of listenersOf(addressesAt(options.place))) {
        expect(await isPortFree(address, port), `${address}:${port}`).toBe(true)
      }
      expect(readJson(join(options.state, 'lab.json')).pids).toEqual({})

      const sleeper = spawn('sleep', ['60'])
      onTestFinished(() => void sleeper.kill())
      const ticks = readFileSync(`/proc/${sleeper.pid}/stat`, 'utf8').split(' ')[21]
      const record = (startedAt: string | undefined) =>
        writeFileSync(
          join(options.state, 'processes.json'),
          JSON.stringify([{ name: 'service', pid: sleeper.pid, startedAt }]),
        )
      record(ticks)
      await expect(startLab(options)).rejects.toThrow(`left processes running: service (pid ${sleeper.pid})`)
      // Another process has the id now.
      record('1')
      const secrets = readFileSync(first.description.adminTokenFile, 'utf8')
      const second = await startLab(options)
      try {
        expect(addressOf('kept.lab.test', options.place.dnsPorts.primary)).toBe('127.0.0.9')
        expect(readFileSync(second.description.adminTokenFile, 'utf8')).toBe(secrets)
        expect(readFileSync(second.description.acme.ca, 'utf8').match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
        writeFileSync(join(options.state, 'drawbridge.yaml'), 'nonsense: true\n')
        await expect(second.killService()).rejects.toThrow(/^The service died 6 times in 30 s .*nonsense/)
        expect(await lost.promise).toBeInstanceOf(Error)
      } finally {
        await second.stop()
      }
    },
  )

  test('npm start ends with page, command and how to stop, and Ctrl-C ends everything that it started', async () => {
    using folder = tempFolder()
    const options = {
      state: join(folder.path, 'lab'),
      place: await freePlace(),
      demo: process.env.CAMPAIGN !== undefined,
    }
    const program = `import { runLab } from './lab/run.ts'; await runLab(${JSON.stringify(options)})`
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    runner.stdout.on('data', (text) => {
      printed += text
    })
    await until(
      'the last line, or the end',
      () => printed.endsWith('\n  Stop     Ctrl-C\n') || runner.exitCode !== null,
      60_000,
    )
    // Without the demonstration the service and the authority, which start at the same time, end the list.
    const lastPart = options.demo ? 'ten exposures' : '(?:the service|the certificate authority)'
    const described = readJson(join(options.state, 'lab.json'))
    const [before = '', after] = printed.split(`Drawbridge ready at http://${options.place.network}.23:8045\n`)
    expect(before).toMatch(new RegExp(`${lastPart}\n$`))
    expect(after?.split('\n')).toEqual([
      '',
      `  Page     ${described.inside} as a caller inside, ${described.outside} as the public`,
      expect.stringMatching(
        `^  Command  DRAWBRIDGE_URL=${described.inside} bin/drawbridge (status|up hello\\.lab\\.test )`,
      ),
      '  Stop     Ctrl-C',
      '',
    ])
    const { lab: own, ...pids } = described.pids
    expect(own).toBe(runner.pid)
    expect(Object.values<number>(pids).every(isAlive)).toBe(true)
    runner.kill('SIGINT')
    expect(await once(runner, 'exit')).toEqual([0, null])
    expect(printed).toMatch(/\nAll processes of the lab are stopped\.\n$/)
    expect(Object.values<number>(pids).filter(isAlive)).toEqual([])
  })
})

describe('a start that fails names the reason', () => {
  test('a port in use, with the program that uses it', async () => {
    using folder = tempFolder()
    const place = await freePlace()
    const squatter = createServer().listen(8443, `${place.network}.73`)
    onTestFinished(() => void squatter.close())
    await once(squatter, 'listening')
    const start = startLab({ state: join(folder.path, 'lab'), place, service: false })
    await expect(start).rejects.toThrow(
      new RegExp(`^Port 8443 on ${place.network}\\.73, which nginx on 73 .* is used by .* \\(pid ${process.pid}\\)`),
    )
  })

  test.runIf(process.env.CAMPAIGN)('a service that cannot start, with its last output', async () => {
    const configure = () => ({ nonsense: true })
    const started: string[] = []
    await expect(startTestLab({ configure, onProgress: (part) => started.push(part) })).rejects.toThrow(
      /^The service did not start. .*nonsense/,
    )
    expect(started.length).toBeGreaterThan(0)
  })
})

function updateZone(lab: Pick<TestLab, 'description'>, change: string): void {
  const { primary, tsig } = lab.description.dns
  const key = `${tsig.algorithm}:${tsig.name}:${readFileSync(tsig.secretFile, 'utf8')}`
  const input = `server ${primary.address} ${primary.port}\nzone ${lab.description.zone}\nupdate ${change}\nsend\n`
  execFileSync('nsupdate', ['-y', key], { input })
}

const addressOf = (name: string, port: number): string =>
  execFileSync('dig', ['+short', '@127.0.0.1', '-p', String(port), name, 'A'], { encoding: 'utf8' }).trim()

const handshakeError = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername: 'nobody.lab.test', rejectUnauthorized: false })
    socket.once('secureConnect', () => reject(new Error('the handshake was accepted')))
    socket.once('error', (error) => resolve(error.message))
  })

test.runIf(process.env.CAMPAIGN)('a second demonstration answers where the first has exposed its hosts', async () => {
  const lab = await startTestLab()
  onTestFinished(() => lab.stop())
  const demo = await startDemo(lab.description)
  const { address, http } = lab.description.edges.primary
  const preview = async () => {
    const host = `preview.${lab.description.zone}`
    return (await call(`http://${address}:${http}`, { path: '/', headers: { host }, from: '127.0.0.1' })).status
  }
  expect(await preview()).toBe(200)
  await demo.stop()
  expect(await preview()).toBe(502)
  const second = await startDemo(lab.description)
  onTestFinished(() => second.stop())
  expect(await preview()).toBe(200)
})
