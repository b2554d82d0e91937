import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Daemon, startDaemon } from '../lab/daemon.ts'
import type { Command } from '../lab/enrolment.ts'
import { findProgram, isRoot } from '../lab/program.ts'
import { asUser, idOf } from './users.ts'

const run = promisify(execFile)
const USER = 'postgres'
/** Debian keeps the programs of each version in a folder of their own. */
const VERSIONS = '/usr/lib/postgresql'
/** The data need not survive a power loss, so nothing waits for the disk. */
export const UNSAFE_SETTINGS = ['fsync=off', 'full_page_writes=off']
/** In the /run of the machine, which no other machine sees. */
const SOCKETS = '/run/postgresql'

function postgresProgram(name: string): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).toSorted((a, b) => Number(b) - Number(a)) : []
  const path = versions.map((version) => join(VERSIONS, version, 'bin', name)).find((file) => existsSync(file))
  return path ?? findProgram(name, 'postgresql')
}

/** Makes a cluster whose superuser needs no password over a local socket. PostgreSQL refuses to run as root. */
export async function initCluster(folder: string): Promise<void> {
  if (isRoot()) chownSync(folder, idOf(USER, '-u'), idOf(USER, '-g'))
  await asPostgres('initdb', ['-D', join(folder, 'data'), '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-sync'])
}

/** Runs a program of PostgreSQL to its end, as Debian's user for it if the caller is root. */
export async function asPostgres(program: string, args: readonly string[]): Promise<void> {
  const path = postgresProgram(program)
  const command = isRoot() ? asPostgresUser({ program: path, args }) : { program: path, args }
  await run(command.program, command.args, { cwd: '/' })
}

const asPostgresUser = (command: Command): Command => asUser(idOf(USER, '-u'), idOf(USER, '-g'), command)

export interface PostgresOptions {
  readonly folder: string
  readonly address: string
  readonly port: number
  /** The name of its one database and of the user who owns it. */
  readonly name: string
  readonly passwordFile: string
  /** The addresses from which this user may connect. */
  readonly callers: readonly string[]
}

/** Starts PostgreSQL and makes its database. Resolves when it can be used. */
export async function startPostgres(options: PostgresOptions): Promise<Daemon> {
  const { folder, address, port } = options
  const data = join(folder, 'data')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(join(data, 'PG_VERSION'))) await initCluster(folder)
  writeFileSync(join(data, 'pg_hba.conf'), accessRules(options))
  mkdirSync(SOCKETS, { recursive: true })
  chownSync(SOCKETS, idOf(USER, '-u'), idOf(USER, '-g'))
  const settings = [
    ...UNSAFE_SETTINGS,
    `listen_addresses=${address}`,
    `port=${port}`,
    `unix_socket_directories=${SOCKETS}`,
  ]
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  const daemon = await startDaemon({
    name: 'PostgreSQL',
    ...asPostgresUser({ program: postgresProgram('postgres'), args }),
    logFile: join(folder, 'postgres.log'),
    isReady: () => isAnswering(port),
    // SIGTERM would wait until every client has gone.
    stopSignal: 'SIGINT',
  })
  await makeDatabase(options).catch(async (error: unknown) => {
    await daemon.stop()
    throw error
  })
  return daemon
}

const accessRules = ({ name, callers }: PostgresOptions): string =>
  ['local all all trust', ...callers.map((address) => `host ${name} ${name} ${address}/32 scram-sha-256`), ''].join(
    '\n',
  )

async function isAnswering(port: number): Promise<boolean> {
  return withClient(port, () => Promise.resolve(true)).catch(() => false)
}

function makeDatabase({ port, name, passwordFile }: PostgresOptions): Promise<void> {
  return withClient(port, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount) return
    await client.query(`create role ${name} login password ${client.escapeLiteral(readFileSync(passwordFile, 'utf8'))}`)
    await client.query(`create database ${name} owner ${name}`)
  })
}

async function withClient<T>(port: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ host: SOCKETS, port, user: USER, database: USER })
  client.on('error', () => undefined)
  await client.connect()
  return work(client).finally(() => client.end())
}
