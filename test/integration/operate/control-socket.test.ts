import { existsSync, linkSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { askForDuties, askForOperation, askForReload, isServed } from '../../../src/operate/control/client.ts'
import { LONGEST_LINE } from '../../../src/operate/control/protocol.ts'
import { listenForCommands } from '../../../src/operate/control/server.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { DUTIES, type DutyName, type DutyReport } from '../../../src/runs/duties.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { freshFolder } from '../../support/fresh.ts'
import { until } from '../../support/until.ts'

/** The duties are stand-ins. The socket is real. */
const at = freshFolder()
let stateDir: string
let socket: string
const performed: DutyName[] = []
const done = (duty: DutyName): DutyReport => ({
  duty,
  ok: true,
  changed: 1,
  hosts: ['app.lab.test'],
  sentence: `${duty}: done.`,
})
const perform = async (duty: DutyName) => {
  performed.push(duty)
  return done(duty)
}
const reload = async () => ({ changed: ['zones'], needRestart: [], faults: [] })
const operated: unknown[] = []
const operate = async (name: string, args: unknown): Promise<unknown> => {
  operated.push([name, args])
  if (name === 'leftOvers') throw new Error('The plan is not blocked.')
  return name === 'listBackups' ? Array.from({ length: 20_000 }, (_, at) => `\0 "${at}"`) : null
}
const listen = (performing = perform) =>
  listenForCommands(stateDir, {
    perform: performing,
    reload,
    operate,
    log: createLog('silent', []),
    clock: systemClock,
  })

beforeEach(() => {
  // Longer than the path of a socket may be.
  stateDir = at('state-'.repeat(18))
  socket = join(stateDir, 'control.sock')
  mkdirSync(stateDir, { mode: 0o700 })
  performed.length = 0
})
afterEach(() => {
  vi.useRealTimers()
})

/** Sends bytes and reads what comes until the connection ends. `leave`: closes our side after them. */
function exchange(text: string, leave = false): Promise<string> {
  const connection = connect()
  connection.write(text)
  if (leave) connection.end()
  return ended(connection)
}
function connect() {
  symlinkSync(stateDir, at(`s${links}`))
  const connection = createConnection(at(`s${links}`, 'control.sock'))
  links += 1
  return connection
}
let links = 0
function ended(connection: ReturnType<typeof connect>): Promise<string> {
  let received = ''
  connection.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  connection.on('error', () => undefined)
  return new Promise((resolve) => connection.on('close', () => resolve(received)))
}
const asking = (...duties: string[]) => `${JSON.stringify({ ask: 'housekeeping', duties })}\n`

test('runs the duties in the order in which they are asked, or all of them', async () => {
  const control = await listen()
  expect(await askForDuties(stateDir, ['expire', 'recover'])).toEqual([done('expire'), done('recover')])
  performed.length = 0
  await askForDuties(stateDir)
  expect(performed).toEqual(DUTIES)
  control.close()
})

test('carries out a reload and operations, whatever the length of their results', async () => {
  const control = await listen()
  expect(await askForReload(stateDir)).toEqual(await reload())
  const long = await askForOperation(stateDir, 'listBackups', {})
  expect(long).toEqual(await operate('listBackups', {}))
  expect(operated.at(-2)).toEqual(['listBackups', {}])
  await expect(askForOperation(stateDir, 'leftOvers', { planId: 'plan_1' })).rejects.toThrow('The plan is not blocked.')
  control.close()
})

test('knows whether a service listens', async () => {
  expect(await isServed(stateDir)).toBe(false)
  const control = await listen()
  expect(await isServed(stateDir)).toBe(true)
  control.close()
})

test('only the user of the service may use the socket, and it goes with the service', async () => {
  const umask = process.umask()
  const control = await listen()
  expect(lstatSync(socket).isSocket()).toBe(true)
  expect(lstatSync(socket).mode & 0o777).toBe(0o600)
  expect(process.umask()).toBe(umask)
  control.close()
  await until('the socket is removed', () => !existsSync(socket))
  await expect(askForDuties(stateDir)).rejects.toThrow(
    `No service uses the state folder ${stateDir}. Start it: systemctl start drawbridge`,
  )
  await expect(askForDuties(join(stateDir, 'nowhere'))).rejects.toThrow('No service uses the state folder')
})

test('replaces the socket of a service that was killed', async () => {
  const killed = await listen()
  linkSync(socket, join(stateDir, 'left.sock'))
  killed.close()
  await until('the socket is removed', () => !existsSync(socket))
  renameSync(join(stateDir, 'left.sock'), socket)
  await expect(askForDuties(stateDir)).rejects.toThrow('No service uses the state folder')
  const control = await listen()
  expect(await askForDuties(stateDir, ['prune'])).toEqual([done('prune')])
  control.close()
})

test.each(['file', 'link to a file', 'link to a socket', 'link to nothing', 'folder'])(
  'a %s at its place is neither followed nor removed',
  async (what) => {
    const other = at('other')
    const asked: string[] = []
    const foreign = createServer((caller) => caller.on('data', (chunk) => asked.push(chunk.toString())))
    if (what === 'link to a socket') await new Promise<void>((resolve) => foreign.listen(other, resolve))
    if (what === 'link to a file') writeFileSync(other, 'kept')
    if (what === 'file') writeFileSync(socket, 'kept')
    else if (what === 'folder') mkdirSync(socket)
    else symlinkSync(other, socket)
    const before = lstatSync(socket).ino
    await expect(listen()).rejects.toThrow(`${socket} is not a socket.`)
    await expect(askForDuties(stateDir)).rejects.toThrow('is not a socket')
    expect(lstatSync(socket).ino).toBe(before)
    expect(existsSync(other)).toBe(what === 'link to a file' || what === 'link to a socket')
    expect(asked).toEqual([])
    await new Promise((resolve) => foreign.close(resolve))
  },
)

test.each([
  ['no JSON', 'converge\n'],
  ['another request', '{"ask":"shell","duties":["converge"]}\n'],
  ['another duty', asking('restart')],
  ['no duty', asking()],
  ['more duties than there are', asking(...Array(DUTIES.length + 1).fill('converge'))],
  ['another member', '{"ask":"housekeeping","duties":["converge"],"as":"root"}\n'],
  ['a reload with arguments', '{"ask":"reload","file":"/etc/other.yaml"}\n'],
  ['null', 'null\n'],
  ['zero bytes', '\0\0\0\n'],
])('refuses %s', async (_, text) => {
  const control = await listen()
  expect(JSON.parse(await exchange(text))).toEqual({
    answer: 'refused',
    reason: 'The service does not know this request. Is the command of another version?',
  })
  expect(performed).toEqual([])
  control.close()
})

test('refuses a request that is too long, with and without its end', async () => {
  const control = await listen()
  const tooLong = { answer: 'refused', reason: 'The request is too long.' }
  expect(JSON.parse(await exchange('x'.repeat(LONGEST_LINE + 1)))).toEqual(tooLong)
  expect(JSON.parse(await exchange(`${' '.repeat(LONGEST_LINE)}${asking('prune')}`))).toEqual(tooLong)
  expect(performed).toEqual([])
  control.close()
})

test('answers a caller that has closed its side, and runs nothing for half a request', async () => {
  const control = await listen()
  expect((await exchange(asking('prune'), true)).split('\n').map((line) => line && JSON.parse(line).answer)).toEqual([
    'report',
    'done',
    '',
  ])
  expect(await exchange(asking('prune').trimEnd(), true)).toBe('')
  expect(performed).toEqual(['prune'])
  control.close()
})

test('runs only the first request of a connection', async () => {
  const control = await listen()
  await exchange(asking('prune') + asking('expire'))
  expect(performed).toEqual(['prune'])
  control.close()
})

test('leaves a caller that says nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const control = await listen()
  let isOver = false
  const over = exchange('{"ask":').then((received) => {
    isOver = true
    return received
  })
  while (!isOver) {
    vi.advanceTimersByTime(5_000)
    await turn()
  }
  expect(await over).toBe('')
  control.close()
})

test('answers after five minutes for a duty that does not end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const stuck = Promise.withResolvers<DutyReport>()
  const control = await listen((duty) => {
    performed.push(duty)
    return stuck.promise
  })
  const asked = askForDuties(stateDir, ['recover'])
  while (performed.length === 0) await turn()
  vi.advanceTimersByTime(5 * 60_000)
  expect(await asked).toMatchObject([
    { duty: 'recover', ok: false, sentence: expect.stringContaining('still under way') },
  ])
  stuck.resolve(done('recover'))
  control.close()
})

test('refuses more callers at once than it serves, and serves again when they have gone', async () => {
  const control = await listen()
  const idle = Array.from({ length: 8 }, connect)
  const gone = idle.map(ended)
  await Promise.all(idle.map((each) => new Promise((resolve) => each.once('connect', resolve))))
  await expect(askForDuties(stateDir, ['prune'])).rejects.toThrow('too many requests')
  for (const each of idle) each.destroy()
  await Promise.all(gone)
  await until('the service serves again', () =>
    askForDuties(stateDir, ['prune']).then(
      () => true,
      () => false,
    ),
  )
  control.close()
})

test('a caller learns that the service has ended before its answer', async () => {
  const stuck = Promise.withResolvers<DutyReport>()
  const control = await listen((duty) => {
    performed.push(duty)
    return stuck.promise
  })
  const asked = askForDuties(stateDir, ['recover'])
  const told = expect(asked).rejects.toThrow('ended before it said what it did')
  await until('the duty is under way', () => performed.length > 0)
  control.close()
  await told
  stuck.resolve(done('recover'))
})
