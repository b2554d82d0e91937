import { chownSync, cpSync, lchownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { launcher } from '../../lab/checkout.ts'
import { type Daemon, startDaemon } from '../../lab/daemon.ts'
import { beginEnrolment, type EnrolmentUnderWay, fingerprintIn, runWithInput } from '../../lab/enrolment.ts'
import { edgeFiles } from '../../lab/nginx.ts'
import { isRoot } from '../../lab/program.ts'
import { DATABASE_NAME } from '../../network/parts.ts'
import { pathsIn } from '../../network/paths.ts'
import { applied, removed } from '../support/lab/exposure.ts'
import { TestNetwork } from '../support/network/network.ts'
import { commandsOf } from '../support/network/page-commands.ts'
import { until } from '../support/until.ts'

/** A network of its own, because it is turned into one machine first. */
const suite = isRoot() && process.env.CAMPAIGN ? describe : describe.skip

type Place = '23' | '73' | '25'
const PARTS: Readonly<Record<string, string>> = { drawbridge: 'service', 'drawbridge-edge': 'edge' }

suite('from one machine to three, by the commands of docs/operations.md', () => {
  let network: TestNetwork
  let single: Daemon | undefined
  let enrolment: EnrolmentUnderWay | undefined
  let fingerprint = ''
  beforeAll(async () => {
    network = await TestNetwork.start()
    await becomeOneMachine()
  }, 240_000)
  afterAll(async () => {
    await single?.stop()
    await network?.stop()
  }, 60_000)

  const fileOn = (machine: Place, ...names: string[]) => pathsIn(network.state).of(machine, ...names)

  /** The paths of the page, where the network has them. */
  const placed = (machine: Place, text: string): string =>
    text
      .replaceAll('/etc/drawbridge/', `${fileOn(machine)}/`)
      .replaceAll('/var/lib/drawbridge-edge', fileOn(machine, 'edge'))
      .replaceAll('/var/lib/drawbridge', fileOn(machine, 'service'))

  /** Machine 23 alone, with a service as root on SQLite. Nothing of the others is left. */
  async function becomeOneMachine(): Promise<void> {
    await Promise.all([network.stopPart('23', 'service'), network.stopPart('25', 'service')])
    await Promise.all([network.stopPart('23', 'edge'), network.stopPart('73', 'edge')])
    const psql = (statement: string) =>
      network.runOn('23', 'root', 'psql', '-h', '/run/postgresql', '-U', 'postgres', '-c', statement)
    await psql(`drop database ${DATABASE_NAME} with (force)`)
    await psql(`create database ${DATABASE_NAME} owner ${DATABASE_NAME}`)
    const left = [fileOn('23', 'service'), fileOn('23', 'edge'), fileOn('73', 'edge'), fileOn('25', 'service')]
    for (const path of [...left, fileOn('25', 'secrets'), fileOn('25', 'drawbridge.yaml')])
      rmSync(path, { recursive: true, force: true })
    cpSync(fileOn('23', 'drawbridge.yaml'), fileOn('23', 'three.yaml'))
    const { storeFile: _, edges: __, ...three } = parse(readFileSync(fileOn('23', 'three.yaml'), 'utf8'))
    const one = { ...three, edges: { '23': edgeFiles(network.description.edges['23']) } }
    writeFileSync(fileOn('23', 'drawbridge.yaml'), stringify(one))
    await network.runOn(
      '23',
      'root',
      'chown',
      '-R',
      'root:root',
      fileOn('23', 'secrets'),
      fileOn('23', 'drawbridge.yaml'),
      fileOn('23', 'three.yaml'),
    )
    const inside = [`--target=${network.pidOf('23', 'nginx')}`, '--net', '--mount', '--', process.execPath, launcher()]
    single = await startDaemon({
      name: 'The service of one machine',
      program: 'nsenter',
      args: [...inside, 'serve', '--config', fileOn('23', 'drawbridge.yaml')],
      logFile: fileOn('23', 'single.log'),
      killAfterMs: 40_000,
      isReady: async () =>
        (
          await network
            .as('10')
            .call({ path: '/readyz' })
            .catch(() => undefined)
        )?.status === 200,
    })
  }

  async function systemctl(machine: Place, action: string, unit: string): Promise<void> {
    const part = PARTS[unit]
    if (part === undefined) throw new Error(`The network has no unit ${unit}.`)
    if (action === 'start') return network.startPart(machine, part)
    if (machine === '23' && part === 'service' && single) {
      await single.stop()
      single = undefined
    } else await network.stopPart(machine, part)
  }

  /** Copies to another machine. What stands in a configuration are the paths of the machine that it came from. */
  function copy(machine: Place, from: string, to: string): void {
    const [, last = '', path = ''] = /^root@192\.168\.45\.(\d+):(.+)$/.exec(to) ?? []
    const target = path.endsWith('/') ? `${path}${basename(from)}` : path
    cpSync(placed(machine, from), placed(last as Place, target), { recursive: true, preserveTimestamps: true })
  }

  /** What `put-store-key` does: the user of the folder writes a new file. */
  function pipe(machine: Place, from: string, last: string): void {
    const to = placed(last as Place, from)
    cpSync(placed(machine, from), to, { errorOnExist: true, force: false })
    const { uid, gid } = statSync(dirname(to))
    chownSync(to, uid, gid)
  }

  /** What `put-secrets` does: the user of the folder unpacks what is in it on the other machine. */
  function unpack(machine: Place, from: string, last: string): void {
    const to = placed(last as Place, from)
    cpSync(placed(machine, from), to, { recursive: true, preserveTimestamps: true })
    const { uid, gid } = statSync(to)
    for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) lchownSync(join(to, name), uid, gid)
  }

  /** What a person types into the editor: the agent of 23 by its address, and the folders of this machine. */
  function edit(machine: Place, file: string): void {
    const text = readFileSync(file, 'utf8').replaceAll(`${fileOn('23')}/`, `${fileOn(machine)}/`)
    const config = parse(text)
    config.edges['23'] = { agent: { address: '192.168.45.23' } }
    writeFileSync(file, stringify(config))
  }

  async function carryOut(machine: Place, line: string): Promise<void> {
    const [program = '', ...words] = placed(machine, line).split(' ')
    if (program === 'systemctl') return systemctl(machine, words[0] ?? '', words[1] ?? '')
    if (program === 'scp') return copy(machine, line.split(' ').at(-2) ?? '', line.split(' ').at(-1) ?? '')
    const [, key, last] = /^setpriv .* cat (\S+) \| ssh root@192\.168\.45\.(\d+) put-store-key$/.exec(line) ?? []
    if (key !== undefined && last !== undefined) return pipe(machine, key, last)
    const [, secrets, other] =
      /^setpriv .* tar -C (\S+) -c \. \| ssh root@192\.168\.45\.(\d+) put-secrets$/.exec(line) ?? []
    if (secrets !== undefined && other !== undefined) return unpack(machine, secrets, other)
    if (program === 'editor') return edit(machine, words[0] ?? '')
    if (program !== 'drawbridge') return void (await network.runOn(machine, 'root', program, ...words))
    const given = words.map((word) => (word === 'FINGERPRINT' ? fingerprint : word))
    const environment = ['env', `DRAWBRIDGE_URL=${network.description.api['23']}`, process.execPath, launcher()]
    const command = network.commandOn(machine, 'root', ...environment, ...given)
    if (words[1] === 'enroll') {
      enrolment = await beginEnrolment(command)
      return
    }
    const output = await runWithInput(command, enrolment?.code ?? '')
    if (words.includes('--prepare')) fingerprint = fingerprintIn(output)
    else if (words[1] === 'join') await enrolment?.ended
  }

  test('each command succeeds, and no request of a visitor fails', { timeout: 240_000 }, async () => {
    const neighbour = await applied(network.as('10'), { subdomain: 'neighbour', tls: true })
    const { host, planId } = neighbour
    await network.beginVisits('public', '23', host)
    const commands = commandsOf('docs/operations.md', 'From one machine to three without downtime')
    expect(commands.length).toBeGreaterThan(20)
    for (const { machine, line } of commands)
      await carryOut(machine as Place, line).catch((error: Error) => {
        throw new Error(`On ${machine}: ${line}: ${error.message}`)
      })
    await until('73 serves the neighbour', async () => (await network.visit('public', '73', host)) === 200)
    const { served, failures } = await network.endVisits('public')
    expect(failures).toEqual([])
    expect(served).toBeGreaterThan(100)

    for (const at of ['23', '25'] as const) {
      const { planId: own, verification } = await applied(network.as('10', at), { subdomain: `after-${at}`, tls: true })
      expect(verification).toMatchObject({ primary: { ok: true }, secondary: { ok: true } })
      await removed(network.as('10', at), own)
    }
    await removed(network.as('10', '25'), planId)
    await network.judge()
  })
})
