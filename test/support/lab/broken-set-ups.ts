import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Daemon } from '../../../lab/daemon.ts'
import { startNginx } from '../../../lab/nginx.ts'
import { openStore } from '../../../src/store/open.ts'
import { until } from '../until.ts'
import type { TestLab } from './lab.ts'

let lab: TestLab
let nginx: Daemon | undefined

/** The set-ups below are those of this lab from now on. */
export const breakThisLab = (given: TestLab): void => {
  lab = given
}
/** Ends what mending has started. */
export const endBroken = async (): Promise<void> => nginx?.stop()

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into a configuration of any form
export type Loose = any
type Mend = () => void | Promise<void>

const LOCK = new URL('../../../src/edge/fences/folder-lock.ts', import.meta.url).href

export interface Broken {
  /** What is wrong, for people. */
  readonly name: string
  /** In the world before the service starts. Resolves with what mends it. */
  readonly before?: () => Promise<Mend>
  /** In the world around the running service. Resolves with what mends it. */
  readonly world?: () => Mend | Promise<Mend>
  /** In the configuration of a service that starts. */
  readonly config?: (config: Loose) => void
  /** In what a service needs to start. It has a state folder of its own. */
  readonly start?: (config: Loose) => unknown
  /** It starts, and ends when it cannot listen. */
  readonly listens?: boolean
  readonly tls?: boolean
  /** For a campaign: another set-up is broken in much the same way. */
  readonly long?: boolean
  /** What doctor calls a fault, and its fix. */
  readonly doctor: RegExp
  readonly apply: RegExp
}

export const primary = () => lab.description.edges.primary
const zoneIn = (config: Loose) => config.zones['lab.test']

/** Changes a file, and puts it back. */
function edited(file: string, change: (text: string) => string): Mend {
  const good = readFileSync(file, 'utf8')
  writeFileSync(file, change(good))
  return () => writeFileSync(file, good)
}

/** Adds directives to the http block of the Primary, before our include. */
const inHttp = (directives: string) => () =>
  edited(primary().config, (text) => text.replace(/include .*drawbridge\/\*\.conf;/, (own) => `${directives} ${own}`))

function secretFile(content: string, mode = 0o600): string {
  const file = join(lab.state, `secret-${randomBytes(4).toString('hex')}`)
  writeFileSync(file, content)
  chmodSync(file, mode)
  return file
}

const otherSecret = () => secretFile(Buffer.alloc(32, 7).toString('base64'))

async function nginxStopped(): Promise<Mend> {
  const { pidFile } = primary()
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM')
  await until('nginx has ended', () => !existsSync(pidFile))
  return async () => {
    nginx = await startNginx(primary())
  }
}

/** BIND cannot write what it is told. */
function withoutJournal(): Mend {
  const files = readdirSync(lab.state, { recursive: true, encoding: 'utf8' })
  const journal = join(lab.state, `${files.find((name) => name.endsWith('primary/lab.test.zone'))}.jnl`)
  const isThere = existsSync(journal)
  if (isThere) renameSync(journal, `${journal}.away`)
  mkdirSync(journal)
  return () => {
    rmSync(journal, { recursive: true })
    if (isThere) renameSync(`${journal}.away`, journal)
  }
}

function replacedByFile(path: string): Mend {
  renameSync(path, `${path}.away`)
  writeFileSync(path, '')
  return () => {
    rmSync(path)
    renameSync(`${path}.away`, path)
  }
}

export const BROKEN: readonly Broken[] = [
  {
    name: "nginx's main file has an unknown directive",
    long: true,
    world: () => edited(primary().config, (text) => `${text}\nno_such_directive on;\n`),
    doctor: /nginx\.conf/,
    apply: /nginx/,
  },
  {
    name: 'another site names a certificate that is not there',
    long: true,
    world: inHttp(
      'server { listen 127.0.0.1:3994 ssl; ssl_certificate /nowhere/a.pem; ssl_certificate_key /nowhere/a.key; }',
    ),
    doctor: /nginx/,
    apply: /nginx/,
  },
  {
    name: 'another site logs into a folder that is not there',
    long: true,
    world: inHttp('access_log /nowhere/access.log;'),
    doctor: /nginx/,
    apply: /nginx/,
  },
  {
    name: 'two sites are the default of one socket',
    long: true,
    world: inHttp('server { listen 127.0.0.1:3993 default_server; } server { listen 127.0.0.1:3993 default_server; }'),
    doctor: /nginx/,
    apply: /nginx/,
  },
  {
    name: 'an upstream of another site has a name that nobody knows',
    long: true,
    world: inHttp('server { listen 127.0.0.1:3992; location / { proxy_pass http://no-such-name.invalid; } }'),
    doctor: /nginx/,
    apply: /nginx/,
  },
  {
    name: 'the include line of Drawbridge is gone',
    world: () => edited(primary().config, (text) => text.replace(/include .*drawbridge\/\*\.conf;/, '')),
    doctor: /include/,
    apply: /include/,
  },
  {
    name: 'nginx logs at debug level',
    long: true,
    tls: true,
    world: inHttp('error_log /dev/null debug;'),
    doctor: /debug/,
    apply: /debug/,
  },
  { name: 'nginx does not run', world: nginxStopped, doctor: /no running nginx/, apply: /nginx/ },
  {
    name: "another process owns the edge's folder",
    long: true,
    before: async () => {
      const program = `import { FolderLock } from ${JSON.stringify(LOCK)}
        // The collector closes what nothing names any more, and the lock would go with it.
        globalThis.lock = new FolderLock(${JSON.stringify(primary().folder)}, '23')
        globalThis.lock.take()
        process.stdout.write('owns it')
        setInterval(() => undefined, 1_000_000)`
      const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(owner.stdout, 'data')
      return async () => {
        owner.kill('SIGKILL')
        await once(owner, 'exit')
      }
    },
    doctor: /Edge 23 belongs to process \d+, and one nginx has one owner/,
    apply: /Edge 23 is not prepared: Edge 23 belongs to process \d+/,
  },
  {
    name: 'the folder of generations is a file',
    world: () => replacedByFile(join(primary().folder, 'generations')),
    doctor: /is not a folder/,
    apply: /./,
  },
  {
    name: 'the folder of changes under way is a file',
    long: true,
    world: () => replacedByFile(join(primary().folder, '.staging')),
    doctor: /is not a folder/,
    apply: /./,
  },
  {
    name: 'the program nginx is not there',
    long: true,
    config: (config) => Object.assign(config.edges['23'], { binary: '/nowhere/nginx' }),
    doctor: /ENOENT[\s\S]*Install nginx/,
    apply: /nginx/,
  },
  {
    name: 'the pid file of nginx is another one',
    long: true,
    config: (config) => Object.assign(config.edges['23'], { pidFile: '/nowhere/nginx.pid' }),
    doctor: /no running nginx/,
    apply: /nginx/,
  },
  {
    name: 'the main file of nginx is another one',
    long: true,
    config: (config) => Object.assign(config.edges['23'], { config: '/nowhere/nginx.conf' }),
    doctor: /nowhere/,
    apply: /./,
  },
  {
    name: 'the DNS server does not answer',
    config: (config) => {
      zoneIn(config).primary = '127.0.0.1:9'
      delete zoneIn(config).nameServers
    },
    doctor: /127\.0\.0\.1:9/,
    apply: /DNS|name/,
  },
  {
    name: 'the secret of the DNS key is another one',
    config: (config) => Object.assign(zoneIn(config).tsig, { secretFile: otherSecret() }),
    doctor: /BADSIG|BADKEY/,
    apply: /DNS|key/,
  },
  {
    name: 'the DNS server does not know the name of the key',
    long: true,
    config: (config) => Object.assign(zoneIn(config).tsig, { name: 'nobody' }),
    doctor: /BADKEY|NOTAUTH/,
    apply: /DNS|key/,
  },
  {
    name: 'the DNS key has another algorithm',
    long: true,
    config: (config) => Object.assign(zoneIn(config).tsig, { algorithm: 'hmac-sha512' }),
    doctor: /BADSIG|BADKEY|NOTAUTH/,
    apply: /DNS|key/,
  },
  {
    name: 'the zone has no DNS key',
    config: (config) => Reflect.deleteProperty(zoneIn(config), 'tsig'),
    doctor: /has no key[\s\S]*Set zones\.lab\.test\.tsig\./,
    apply: /key/,
  },
  {
    name: 'the DNS server cannot write its journal',
    world: withoutJournal,
    doctor: /A test record was not added\.[\s\S]*\/var\/lib\/bind/,
    apply: /DNS/,
  },
  {
    name: 'the authority does not answer',
    config: (config) => Object.assign(config.acme, { directory: 'https://127.0.0.1:9/dir' }),
    tls: true,
    doctor: /127\.0\.0\.1:9/,
    apply: /authority|127\.0\.0\.1:9/,
  },
  {
    name: 'the certificate of the authority is not trusted',
    long: true,
    config: (config) => Reflect.deleteProperty(config.acme, 'caFile'),
    tls: true,
    doctor: /14000\/dir/,
    apply: /authority|certificate/,
  },
  {
    name: 'the state folder is open to others',
    long: true,
    start: (config) => chmodSync(config.stateDir, 0o755),
    doctor: /open to other users/,
    apply: /open to other users/,
  },
  {
    name: 'the state folder is a file',
    long: true,
    start: (config) => {
      rmSync(config.stateDir, { recursive: true })
      writeFileSync(config.stateDir, '')
    },
    doctor: /not a folder/,
    apply: /state/,
  },
  {
    name: 'the store is no database',
    long: true,
    start: (config) =>
      writeFileSync(join(config.stateDir, 'drawbridge.db'), 'no database at all'.repeat(100), { mode: 0o600 }),
    doctor: /cannot be used/,
    apply: /store cannot be opened/,
  },
  {
    name: 'the store is of a newer version',
    long: true,
    start: async (config) => {
      const file = join(config.stateDir, 'drawbridge.db')
      await (await openStore({ kind: 'sqlite', file })).close()
      const db = new Database(file)
      db.prepare('UPDATE schema_versions SET version = version + 9000').run()
      db.close()
    },
    doctor: /newer Drawbridge/,
    apply: /newer/,
  },
  {
    name: 'the store is of a version that was never released',
    long: true,
    start: async (config) => {
      const file = join(config.stateDir, 'drawbridge.db')
      await (await openStore({ kind: 'sqlite', file })).close()
      const db = new Database(file)
      db.exec('DELETE FROM schema_versions; INSERT INTO schema_versions VALUES (5)')
      db.close()
    },
    doctor: /too old to be upgraded/,
    apply: /Start the last Drawbridge before this one once/,
  },
  {
    name: 'PostgreSQL does not answer',
    start: (config) => Object.assign(config, { store: 'postgres://drawbridge:canary-password@127.0.0.1:9/drawbridge' }),
    doctor: /PostgreSQL/,
    apply: /store cannot be opened/,
  },
  {
    name: 'the key of the store is no key',
    long: true,
    start: async (config) => {
      await (await openStore({ kind: 'sqlite', file: join(config.stateDir, 'drawbridge.db') })).close()
      writeFileSync(join(config.stateDir, 'store.key'), 'no key', { mode: 0o600 })
    },
    doctor: /store\.key/,
    apply: /store\.key/,
  },
  {
    name: 'a secret can be read by others',
    long: true,
    start: (config) => Object.assign(zoneIn(config).tsig, { secretFile: secretFile('c2VjcmV0', 0o644) }),
    doctor: /secretFile/,
    apply: /secretFile/,
  },
  {
    name: 'a setting is unknown',
    start: (config) => Object.assign(config, { stateDirectory: '/x' }),
    doctor: /changed\.yaml:\d+: stateDirectory/,
    apply: /stateDirectory/,
  },
  {
    name: 'another program listens where the service should',
    long: true,
    listens: true,
    start: (config) => {
      const [{ address, port } = { address: '', port: 0 }] = lab.description.backends
      config.listen = { address, port }
    },
    doctor: /is taken by/,
    apply: /EADDRINUSE|taken|in use/,
  },
]
