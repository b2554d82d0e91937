import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import { freePort } from '../../../lab/free-port.ts'
import { commandLine } from '../../../src/compose/command-line.ts'
import { Slots } from '../../../src/primitives/slots.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

/**
 * THREATS row 35. The user of the service prepares its state folder, and root runs the documented commands on it. Nothing outside the
 * folder may change, and no process of root may be reached.
 */
const isRoot = process.getuid?.() === 0
/** No user of the machine has this number. */
const OWNER = 54_321
const PATIENCE_MS = 60_000

let folder: ReturnType<typeof tempFolder>
let state: string
let outside: string
let config: string
let agentConfig: string
let bystander: ChildProcess
let foreign: Server
let asked: number

const at = (name: string) => join(state, name)
const beyond = (name: string) => join(outside, name)
const beside = (name: string) => join(folder.path, name)

beforeEach(async () => {
  folder = tempFolder()
  state = beside('state')
  outside = beside('outside')
  config = beside('drawbridge.yaml')
  agentConfig = beside('edge.yaml')
  mkdirSync(state, { mode: 0o700 })
  mkdirSync(beside('edge'), { mode: 0o700 })
  mkdirSync(beyond('folder'), { recursive: true, mode: 0o750 })
  for (const name of ['json', 'lock', 'db', 'key']) writeFileSync(beyond(name), 'kept\n', { mode: 0o640 })
  writeFileSync(beyond('token'), 'kept\n', { mode: 0o600 })
  writeFileSync(config, stringify(settings(await freePort())), { mode: 0o644 })
  writeFileSync(agentConfig, stringify(agentSettings()), { mode: 0o644 })
  bystander = spawn('sleep', ['600'])
  asked = 0
  foreign = createServer((caller) => {
    asked += 1
    caller.destroy()
  })
  await new Promise<void>((resolve) => foreign.listen(beyond('foreign.sock'), resolve))
})
afterEach(async () => {
  bystander.kill('SIGKILL')
  await new Promise((resolve) => foreign.close(resolve))
  folder[Symbol.dispose]()
})

/** Nothing here leaves the machine: every server is a closed port of loopback. */
const settings = (port: number, stateDir = state) => ({
  listen: { address: '127.0.0.1', port },
  stateDir,
  servers: {
    addresses: { '23': '127.0.0.1', '25': '127.0.0.1', '73': '127.0.0.1' },
    targets: ['25'],
    primary: '23',
    secondary: '73',
  },
  edges: { '73': { agent: { address: '127.0.0.1', port: 9 } }, '23': { agent: { socket: beside('edge.sock') } } },
  zones: { 'lab.test': { primary: '127.0.0.1:9', nameServers: ['127.0.0.1:9'] } },
  acme: { directory: 'https://127.0.0.1:9/directory' },
})

const agentSettings = () => ({
  server: '73',
  zones: ['lab.test'],
  nginx: { address: '127.0.0.1', folder: beside('nginx'), config: beside('nginx.conf') },
  listen: { address: '127.0.0.1', port: 9 },
  stateDir: beside('edge'),
})

/** What the process of a pid is known by: the boot of the machine and the start of the process. */
function markOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${started}`
}

/** What the user of the service can put into its folder. Each set fills the same places in another way. */
const TRAPS: Readonly<Record<string, () => void>> = {
  links: () => {
    const links = {
      ...{ 'instance.json': 'json', 'instance.lock': 'lock', 'drawbridge.db': 'db', 'store.key': 'key' },
      ...{ 'control.sock': 'foreign.sock', backups: 'folder', certificates: 'folder', acme: 'folder' },
    }
    for (const [name, target] of Object.entries(links)) symlinkSync(beyond(target), at(name))
    const pid = bystander.pid ?? 0
    writeFileSync(at('reload.json'), JSON.stringify({ pid, mark: markOf(pid), count: 0, last: null }))
  },
  'pipes and folders': () => {
    for (const name of ['instance.json', 'instance.lock', 'store.key', 'reload.json', 'control.sock'])
      execFileSync('mkfifo', [at(name)])
    mkdirSync(at('drawbridge.db'))
    symlinkSync(beyond('folder'), at('acme'))
  },
  'huge and odd files': () => {
    for (const name of ['instance.json', 'store.key', 'reload.json', 'backups', 'certificates']) {
      writeFileSync(at(name), '')
      truncateSync(at(name), 2 ** 34)
    }
    writeFileSync(at('instance.lock'), 'not a database')
    writeFileSync(at('drawbridge.db'), 'SQLite format 3\0'.padEnd(4_096, '\xff'))
    writeFileSync(at('control.sock'), '')
  },
}

/** Gives the folder to its owner, links and all. */
function handOver(path = state): void {
  for (const name of readdirSync(path)) lchownSync(join(path, name), OWNER, OWNER)
  chownSync(path, OWNER, OWNER)
}

const world = () => [
  ...listing(outside),
  ...readdirSync(outside).map((name) => {
    const { uid, gid, mode, size, mtimeMs } = lstatSync(beyond(name))
    return [name, uid, gid, mode, size, mtimeMs].join(' ')
  }),
  ...readdirSync(folder.path),
]

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs a command to its end. A command that hangs is ended, and has no code. */
async function command(line: string, file = config): Promise<Ended> {
  const words = line.split(' ').map((word) => word.replace('OUT', folder.path))
  const named = words.includes('--config') ? [] : ['--config', file]
  const child = spawn(launcher(), [...words, ...named], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()))
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { code, output }
}

/** One line for each way in which a command comes to the folder. */
const SAMPLE = ['backups list', 'keys rotate', 'reload', 'doctor --fix']
/** Every other command on the server. */
const OTHERS = [
  'serve',
  'backup OUT/state/new.backup --unencrypted',
  'rebuild --from-world --dry-run',
  'serve --check',
  'housekeeping',
  'housekeeping prune',
  'doctor',
  'verify',
  'diff app.lab.test',
  'show app.lab.test',
  'audit verify',
  'backups restore run_1 --show',
  'backups restore run_1 --yes',
  `edge enroll 73 --fingerprint SHA256:${'A'.repeat(43)}`,
  'edge retire 73 --yes',
  'edge revoke 73',
  'edge revoke --services',
  'edge converge',
  'edge converge --confirm-removal --yes',
  'edge --config OUT/edge.yaml --check',
  'edge join --config OUT/edge.yaml',
  'edge hand-over store_4f1c store_a07b --yes --config OUT/edge.yaml',
  'edge leave --yes --config OUT/edge.yaml',
  'reconcile',
  'reconcile --all --yes',
  'withdraw --show',
  'withdraw --all --yes',
  'resolve plan_1 --show',
  'resolve plan_1 --accept',
  'restore OUT/drawbridge.yaml',
  'rebuild --from-world --yes',
  'store copy --to OUT/drawbridge.yaml',
  'keys rotate --lost',
  'webhooks list',
  'webhooks retry chat',
  'acme export-account --to OUT/state/account.key',
  'import npm OUT/outside/db',
  'import nginx OUT/outside',
  'adopt app.lab.test --yes --url http://127.0.0.1:9',
  'init --yes',
]

/** The names of the commands that read a configuration on this machine. */
function onThisMachine(command: Command, above: readonly string[] = []): string[] {
  const own = command.options.some(({ long }) => long === '--config') ? [above.join(' ')] : []
  return [...own, ...command.commands.flatMap((each) => onThisMachine(each, [...above, each.name()]))]
}

test('the walk has every command that takes --config', () => {
  const lines = [...SAMPLE, ...OTHERS]
  expect(
    onThisMachine(commandLine()).filter((name) => !lines.some((line) => `${line} `.startsWith(`${name} `))),
  ).toEqual([])
})

describe.runIf(isRoot)('root on a state folder that another user has prepared', { timeout: 240_000 }, () => {
  test.each(Object.keys(TRAPS))('%s: no command changes anything outside', async (trap) => {
    TRAPS[trap]?.()
    handOver()
    const before = world()
    const slots = new Slots(2)
    const sample = trap === 'links' ? SAMPLE : SAMPLE.slice(0, 2)
    const walked = process.env.CAMPAIGN ? [...SAMPLE, ...OTHERS] : sample
    const ended = await Promise.all(walked.map((line) => slots.run(() => command(line))))
    expect(walked.filter((_, index) => ended[index]?.code === null)).toEqual([])
    expect(world()).toEqual(before)
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull()
    expect(asked).toBe(0)
  })

  test('a service and its commands act as the owner, with nothing of root', async () => {
    handOver()
    const service = spawn(launcher(), ['serve', '--config', config], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    service.stderr.on('data', (part: Buffer) => (said += part.toString()))
    const ended = new Promise((resolve) => service.once('close', resolve))
    try {
      await until('the service listens', () => readdirSync(state).includes('control.sock'), PATIENCE_MS)
      const rights = readFileSync(`/proc/${service.pid}/status`, 'utf8')
      const all = [OWNER, OWNER, OWNER, OWNER].join('\t')
      expect(rights).toContain(`Uid:\t${all}\n`)
      expect(rights).toContain(`Gid:\t${all}\n`)
      expect(rights).toMatch(/^Groups:\s*$/m)
      expect(rights).toMatch(/^CapEff:\t0+$/m)
      // A process of that user opens no debugger in what root has started.
      service.kill('SIGUSR1')
      expect((await command('reload')).output).toBe('Nothing has changed.\n')
      expect((await command('withdraw --show')).output).toBe('No name points here.\n')
    } finally {
      service.kill('SIGTERM')
      await ended
    }
    expect(said).not.toContain('Debugger')
    for (const name of readdirSync(state)) expect([name, lstatSync(at(name)).uid]).toEqual([name, OWNER])
    await keepsInFolderOfRoot()
  })

  /** The file of a backup lies where the user of the service has no right, and belongs to root. */
  async function keepsInFolderOfRoot(): Promise<void> {
    const file = beyond('one.backup')
    symlinkSync(outside, at('link'))
    handOver()
    expect((await command('backup OUT/state/link/one.backup --unencrypted')).output).toContain('EACCES')
    expect(await command(`backup ${file} --unencrypted`)).toMatchObject({ code: 0 })
    const { uid, mode } = statSync(file)
    expect([uid, mode & 0o777]).toEqual([0, 0o600])
    mkdirSync(beside('empty'), { mode: 0o700 })
    handOver(beside('empty'))
    writeFileSync(beside('other.yaml'), stringify(settings(9, beside('empty'))))
    expect(await command(`restore ${file}`, beside('other.yaml'))).toMatchObject({ code: 0 })
    expect(readdirSync(beside('empty'))).toContain('drawbridge.db')
  }

  test('a configuration of that user is not followed by root', async () => {
    const ran = beyond('ran')
    const program = beside('program')
    writeFileSync(program, `#!/bin/sh\nid -u > ${ran}\n`)
    chmodSync(program, 0o755)
    const edges = { '23': { binary: program, config: beyond('json'), folder: beside('nginx') } }
    const text = stringify({ ...settings(9), edges, servers: { ...settings(9).servers, secondary: 'none' } })
    writeFileSync(config, text)
    chownSync(config, OWNER, OWNER)
    const before = world()
    const lines = ['doctor', 'init --yes', 'import nginx --test']
    const ended = await Promise.all(lines.map((line) => command(line)))
    expect(ended.map(({ code }) => code)).not.toContain(0)
    expect(ended[0]?.output).toContain(`Run: chown -h root ${config}`)
    expect(world()).toEqual(before)
  })

  test('an agent refuses folders that another user could exchange', async () => {
    for (const path of [beside('edge'), agentConfig]) {
      chownSync(path, OWNER, OWNER)
      const { code, output } = await command('edge --check', agentConfig)
      expect([code, output]).toEqual([1, expect.stringContaining(`Run: chown -h root ${path}`)])
      chownSync(path, 0, 0)
    }
    expect(await command('edge --check', agentConfig)).toMatchObject({ code: 0 })
  })

  test('a secret that is a pipe or a link to a file of root is not read', async () => {
    handOver()
    mkdirSync(beside('secrets'), { mode: 0o700 })
    writeFileSync(config, stringify({ ...settings(9), adminTokenFile: join(beside('secrets'), 'token') }))
    execFileSync('mkfifo', ['-m', '600', join(beside('secrets'), 'token')])
    handOver(beside('secrets'))
    expect((await command('serve --check')).output).toContain('not a regular file')
    execFileSync('ln', ['-sf', beyond('token'), join(beside('secrets'), 'token')])
    handOver(beside('secrets'))
    expect((await command('serve --check')).output).toContain('EACCES')
  })
})
