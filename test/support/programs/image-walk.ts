// The life of a container from the image: started by crun with empty volumes, configured, and a first host is exposed; then its store is
// in PostgreSQL. It must be started with namespaces of its own (mount, network, pid), whose end removes every mount and process. It prints what it saw as one
// line of JSON; the test judges it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { checkout } from '../../../lab/checkout.ts'
import { type Daemon, launchDaemon } from '../../../lab/daemon.ts'
import { commandsOf } from '../network/page-commands.ts'
import { ContainerPostgres } from '../package/container-postgres.ts'
import { type Machine, Surroundings } from '../package/installation.ts'
import { visit } from '../package/traffic.ts'
import { until } from '../until.ts'

interface Walk {
  /** A folder for everything that the walk writes. */
  readonly folder: string
  /** The OCI layout, with the name of the image in it. */
  readonly image: string
}

const HOST = 'hello.lab.test'
/** What compose.yaml gives the container. */
const { cap_add: CAPABILITIES, volumes } = parse(readFileSync(join(checkout(), 'packaging/compose.yaml'), 'utf8'))
  .services.drawbridge as { readonly cap_add: readonly string[]; readonly volumes: readonly string[] }
const VOLUMES = volumes.map((volume) => volume.split(':')[1] ?? '')
const seen: Record<string, unknown> = {}

const walk: Walk = JSON.parse(process.argv[2] ?? '')
const bundle = join(walk.folder, 'bundle')
const log = join(walk.folder, 'container.log')
const CRUN = ['--cgroup-manager=disabled', `--root=${join(walk.folder, 'crun')}`]
const NAME = 'drawbridge'

async function main(): Promise<void> {
  execFileSync('ip', ['link', 'set', 'lo', 'up'])
  onlyUnifiedCgroups()
  // umoci compares every blob with its hash.
  execFileSync('umoci', ['unpack', '--image', walk.image, bundle], { stdio: 'pipe' })
  configure()
  const around = new Surroundings(container, join(walk.folder, 'state'))
  await around.start()

  const unconfigured = await started()
  await until('nginx runs', () => logText().includes('is not configured yet'))
  seen.init = await around.init()
  await stopped(unconfigured)

  const first = await started()
  await around.ready()
  seen.users = await users()
  const { code, output } = await around.expose(HOST)
  seen.expose = { code, output, answer: await visit(around.place(HOST)), points: await around.addressesOf(HOST) }

  // A new container on the same volumes.
  await stopped(first)
  const second = await started()
  await around.ready()
  await until('the new container serves the host', async () => (await visit(around.place(HOST))) === 200)
  seen.again = await visit(around.place(HOST))
  seen.postgres = await onPostgres(around, second)
}

/** The section of the page about PostgreSQL, command by command: on a connection of the machine itself, then with TLS. */
async function onPostgres(around: Surroundings, running: Daemon) {
  await around.takeDown(HOST)
  const postgres = await ContainerPostgres.start(walk.folder)
  let daemon = running
  const carryOut = async (url: string) => {
    for (const { line } of commandsOf(join(checkout(), 'docs/container.md'), 'PostgreSQL')) {
      if (line === 'docker compose restart drawbridge') {
        await stopped(daemon)
        daemon = await started()
        await around.ready()
        continue
      }
      const [, user = '', script] = /^docker compose exec drawbridge (setpriv .* )?sh -c '(.*)'$/.exec(line) ?? []
      if (script === undefined) throw new Error(`docs/container.md has a command that is not known: ${line}`)
      // A second time the configuration has the line already.
      if (url.includes('sslmode') && script.startsWith('echo ')) continue
      const { code, output } = run([...user.split(' ').filter(Boolean), 'sh', '-c', script], `${url}\n`)
      if (code !== 0) throw new Error(`${script}: ${output}`)
    }
  }
  const looked = async (host: string) => ({
    code: (await around.expose(host)).code,
    answer: await visit(around.place(host)),
    stored: postgres.ask('select string_agg(host, $$ $$ order by host) from exposures'),
    tls: postgres.ask(
      `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'drawbridge'`,
    ),
    doctor: (await around.drawbridge('doctor')).code,
  })
  await carryOut(postgres.url)
  const plain = await looked('plain.lab.test')
  const certificate = postgres.requireTls()
  writeFileSync(container.at('etc/drawbridge/postgres-ca.crt'), certificate, { mode: 0o644 })
  await carryOut(`${postgres.url}?sslmode=verify-full&sslrootcert=/etc/drawbridge/postgres-ca.crt`)
  const encrypted = await looked('encrypted.lab.test')
  await stopped(daemon)
  return { plain, encrypted, passwordShown: logText().includes(new URL(postgres.url).password) }
}

const container: Machine = {
  at: (path) => {
    const volume = VOLUMES.find((one) => `/${path}` === one || `/${path}`.startsWith(`${one}/`))
    return volume === undefined ? join(bundle, 'rootfs', path) : join(volumeOf(volume), `/${path}`.slice(volume.length))
  },
  run: async (...command) => run(command),
}

function run(command: readonly string[], input = ''): { code: number; output: string } {
  try {
    const output = execFileSync('crun', [...CRUN, 'exec', NAME, ...command], { encoding: 'utf8', stdio: 'pipe', input })
    return { code: 0, output }
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string }
    return { code: status, output: `${stdout}${stderr}` }
  }
}

/** crun does not run beside controllers of the first version. This mount namespace is the walk's own. */
function onlyUnifiedCgroups(): void {
  execFileSync('umount', ['--recursive', '--lazy', '/sys/fs/cgroup'], { stdio: 'pipe' })
  execFileSync('mount', ['-t', 'cgroup2', 'cgroup2', '/sys/fs/cgroup'], { stdio: 'pipe' })
}

function volumeOf(path: string): string {
  return join(walk.folder, 'volumes', path.replaceAll('/', '-'))
}

/** As compose.yaml has it: the network of the machine, volumes, and few capabilities. */
function configure(): void {
  const file = join(bundle, 'config.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.process.terminal = false
  const capabilities = CAPABILITIES.map((name) => `CAP_${name}`)
  config.process.capabilities = { bounding: capabilities, effective: capabilities, permitted: capabilities }
  config.root.readonly = false
  config.linux.namespaces = config.linux.namespaces.filter(({ type }: { type: string }) => type !== 'network')
  delete config.linux.resources
  config.mounts = config.mounts.filter(
    ({ destination }: { destination: string }) =>
      destination !== '/sys' && !destination.startsWith('/sys/') && !VOLUMES.includes(destination),
  )
  for (const path of VOLUMES) {
    mkdirSync(volumeOf(path), { recursive: true })
    config.mounts.push({ destination: path, type: 'bind', source: volumeOf(path), options: ['rbind', 'rw'] })
  }
  writeFileSync(file, JSON.stringify(config))
}

const logText = () => readFileSync(log, 'utf8')

const started = (): Promise<Daemon> =>
  launchDaemon({ name: 'crun', program: 'crun', args: [...CRUN, 'run', '--bundle', bundle, NAME], logFile: log })

async function stopped(daemon: Daemon): Promise<void> {
  execFileSync('crun', [...CRUN, 'kill', NAME, 'TERM'], { stdio: 'pipe' })
  await until('the container has ended', () => !daemon.isAlive(), 45_000)
}

/** Who runs what in the container. */
async function users() {
  const { output } = await container.run(
    'sh',
    '-c',
    'for p in /proc/[0-9]*; do stat -c %U $p; tr "\\0" " " <$p/cmdline; echo; done',
  )
  const lines = output.split('\n')
  const userOf = (word: string) => lines[lines.findIndex((line) => line.includes(word)) - 1]
  return { service: userOf('drawbridge serve'), agent: userOf('drawbridge edge') }
}

try {
  await main()
  process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit(0))
} catch (error) {
  const tail = readFileSync(log, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(-30).join('\n')
  process.stderr.write(`${JSON.stringify(seen)}\n${error instanceof Error ? error.stack : error}\n${tail}\n`)
  process.exit(1)
}
