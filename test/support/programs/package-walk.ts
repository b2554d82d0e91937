// The life of an installation in one root, from the package file to its purge. It must be started with namespaces of its own (mount,
// network, pid), whose end removes every mount and process. It prints what it saw as one line of JSON; the test judges it.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Installation } from '../package/installation.ts'
import { fingerprints, Root } from '../package/root.ts'
import { StandInSystemd } from '../package/service-manager.ts'
import { visit, visitedDuring } from '../package/traffic.ts'
import { asUnitSays } from '../package/unit.ts'
import { until } from '../until.ts'

interface Walk {
  /** The root to put an overlay over. */
  readonly lower: string
  /** A folder for everything that the walk writes. */
  readonly folder: string
  readonly deb: string
  /** A newer package to upgrade to. */
  readonly newer?: string
}

const HOST = 'hello.lab.test'
const SERVICE = 'drawbridge.service'
const AGENT = 'drawbridge-edge.service'
const seen: Record<string, unknown> = {}

const walk: Walk = JSON.parse(process.argv[2] ?? '')
execFileSync('ip', ['link', 'set', 'lo', 'up'])
execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=711', 'tmpfs', walk.folder])
const logs = join(walk.folder, 'logs')
mkdirSync(logs)
const root = new Root(walk.lower, join(walk.folder, 'overlay'))
const systemd = new StandInSystemd(root.path, logs)
const installation = new Installation(root, systemd, join(walk.folder, 'state'))

try {
  await main()
  process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit(0))
} catch (error) {
  process.stderr.write(
    `${JSON.stringify(seen, null, 2)}\n${error instanceof Error ? error.stack : error}\n${logTails()}`,
  )
  process.exit(1)
}

async function main(): Promise<void> {
  await systemd.install()
  await installation.start()
  const before = { nginx: fingerprints(root.at('etc/nginx')), accounts: accounts() }

  await install()
  seen.init = await installation.init()
  await installation.startUnits()
  seen.privileges = { service: privilegesOf(SERVICE), agent: privilegesOf(AGENT) }
  seen.walls = walls()
  seen.reload = endsWell(SERVICE, systemd.unit(SERVICE).words('Service.ExecReload'))
  await expose()
  await restart()
  if (walk.newer !== undefined) await upgrade(walk.newer)
  await removeAndPurge(before)
}

async function install(): Promise<void> {
  const { code, output } = await installation.install(walk.deb)
  seen.install = {
    ...{ code, output },
    started: [SERVICE, AGENT].filter((unit) => systemd.isActive(unit)),
    enabled: [SERVICE, AGENT].filter((unit) => systemd.isEnabled(unit)),
    folders: Object.fromEntries(
      ['etc/drawbridge', 'etc/drawbridge/secrets', 'var/lib/drawbridge', 'var/lib/drawbridge-edge'].map((folder) => [
        folder,
        execFileSync('/usr/sbin/chroot', [root.path, 'stat', '-c', '%U:%G %a', `/${folder}`], {
          encoding: 'utf8',
        }).trim(),
      ]),
    ),
  }
}

/** User and capabilities of a running unit. */
function privilegesOf(unit: string) {
  const status = readFileSync(`/proc/${systemd.pid(unit)}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1]
  return { uid: field('Uid') === '0' ? 'root' : 'other', bounding: field('CapBnd'), effective: field('CapEff') }
}

/** Whether a command succeeds that is started as a process of the unit. */
function endsWell(unit: string, command: readonly string[]): boolean {
  const script = asUnitSays(systemd.unit(unit), root.path, command)
  return spawnSync('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script]).status === 0
}

/** What a process of each unit can write. It is started in the same way as the unit itself. */
function walls() {
  const canWrite = (unit: string, path: string): boolean =>
    endsWell(unit, ['sh', '-c', `touch ${path}/probe && rm ${path}/probe`])
  const paths = [
    '/usr',
    '/etc',
    '/etc/nginx',
    '/etc/drawbridge',
    '/var/lib/drawbridge',
    '/var/lib/drawbridge-edge',
    '/var/log',
  ]
  return Object.fromEntries([SERVICE, AGENT].map((unit) => [unit, paths.filter((path) => canWrite(unit, path))]))
}

async function expose(): Promise<void> {
  const { code, output } = await installation.expose(HOST)
  seen.expose = {
    code,
    output,
    answer: await visit(installation.place(HOST)),
    points: await installation.addressesOf(HOST),
  }
  const short = await installation.expose('short.lab.test')
  const removed = await installation.drawbridge('down', 'short.lab.test', '--yes', '--url', 'http://127.0.45.23:8045')
  seen.applyAndRemove = [short.code, removed.code]
}

async function restart(): Promise<void> {
  await installation.reboot()
  await installation.ready()
  seen.restart = { answer: await visit(installation.place(HOST)), enabled: systemd.isActive(SERVICE) }
}

async function upgrade(newer: string): Promise<void> {
  const [former] = [systemd.pid(SERVICE)]
  let upgraded = { code: -1, output: '' }
  const visits = await visitedDuring(installation.place(HOST), async () => {
    upgraded = await installation.install(newer)
    await installation.ready()
    const { code } = await installation.expose('later.lab.test')
    if (code !== 0) throw new Error('Nothing could be exposed after the upgrade.')
  })
  const { output: version } = await root.run('sh', '-c', "dpkg -s drawbridge | sed -n 's/^Version: //p'")
  seen.upgrade = { ...upgraded, version: version.trim(), isNewProcess: systemd.pid(SERVICE) !== former, visits }
}

async function removeAndPurge(before: { nginx: unknown; accounts: unknown }): Promise<void> {
  const removal = { code: -1, output: '' }
  const visits = await visitedDuring(installation.place(HOST), async () => {
    Object.assign(removal, await root.run('dpkg', '-r', 'drawbridge'))
  })
  seen.remove = {
    ...removal,
    visits,
    program: existsSync(root.at('usr/bin/drawbridge')),
    state: readdirSync(root.at('var/lib/drawbridge')).length > 0,
    active: [SERVICE, AGENT].filter((unit) => systemd.isActive(unit)),
    points: await installation.addressesOf(HOST),
  }
  await purgeWithoutDns()
  const purged = await root.run('dpkg', '-P', 'drawbridge')
  await until('nginx does not serve the host any more', async () => (await visit(installation.place(HOST))) !== 200)
  seen.purge = {
    ...purged,
    points: await installation.addressesOf(HOST),
    isNginxValid: await installation.isNginxValid(),
    nginx: differences(before.nginx, fingerprints(root.at('etc/nginx'))),
    accounts: differences(before.accounts, accounts()),
    left: leftOvers(),
  }
}

/** A purge that cannot withdraw the names deletes nothing. */
async function purgeWithoutDns(): Promise<void> {
  await installation.stopDns()
  const { code, output } = await root.run('dpkg', '-P', 'drawbridge')
  seen.purgeWithoutDns = {
    code,
    output,
    answer: await visit(installation.place(HOST)),
    state: existsSync(root.at('var/lib/drawbridge')),
  }
  await installation.startDns()
}

function accounts() {
  const text = (name: string) => readFileSync(root.at(`etc/${name}`), 'utf8')
  return { passwd: text('passwd'), group: text('group') }
}

function differences(before: unknown, after: unknown): string[] {
  const [one, other] = [before, after] as [Record<string, string>, Record<string, string>]
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((key) => one[key] !== other[key])
}

/** What the package has left in the root, apart from the records of dpkg. */
function leftOvers(): string[] {
  return (
    readdirSync(root.changes, { recursive: true, encoding: 'utf8', withFileTypes: true })
      // A character device marks what was deleted.
      .filter((entry) => !entry.isCharacterDevice())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.changes.length))
      .filter((path) => path.includes('drawbridge') && !path.startsWith('/tmp/') && !path.startsWith('/var/lib/dpkg/'))
  )
}

function logTails(): string {
  return readdirSync(logs)
    .map((name) => `--- ${name}\n${readFileSync(join(logs, name), 'utf8').split('\n').slice(-15).join('\n')}`)
    .join('\n')
}
