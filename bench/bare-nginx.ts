import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Daemon, startDaemon } from '../lab/daemon.ts'
import { findProgram } from '../lab/program.ts'
import { BENCH_PLACE } from './place.ts'

const run = promisify(execFile)

const READY_WITHIN_MS = 120_000

/** An nginx that Drawbridge does not know, with one worker. `http`: what stands in its `http {}`. */
export async function startBareNginx(folder: string, name: string, http: string): Promise<Daemon> {
  const { prefix, config, pidFile, errorLog } = filesOf(folder, name)
  for (const each of ['', 'temp', 'logs']) mkdirSync(join(prefix, each), { recursive: true })
  configure(folder, name, http)
  return startDaemon({
    name: `nginx (${name})`,
    program: findProgram('nginx', 'nginx'),
    args: ['-e', errorLog, '-p', prefix, '-c', config, '-g', 'daemon off;'],
    logFile: join(prefix, 'output.log'),
    readyWithinMs: READY_WITHIN_MS,
    isReady: async () => textOf(pidFile) !== '',
  })
}

/** Gives it another `http {}`, as an administrator does: a test and a reload. */
export async function changeBareNginx(folder: string, name: string, http: string): Promise<void> {
  const { prefix, config, pidFile, errorLog } = filesOf(folder, name)
  configure(folder, name, http)
  await run('nginx', ['-t', '-q', '-e', errorLog, '-p', prefix, '-c', config])
  process.kill(Number(textOf(pidFile)), 'SIGHUP')
}

function filesOf(folder: string, name: string) {
  const prefix = join(folder, name)
  const at = (file: string) => join(prefix, file)
  return { prefix, config: at('nginx.conf'), pidFile: at('nginx.pid'), errorLog: at('logs/error.log') }
}

function configure(folder: string, name: string, http: string): void {
  const { config, pidFile, errorLog } = filesOf(folder, name)
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path temp/${kind};`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    config,
    `${user}
worker_processes 1;
pid ${pidFile};
error_log ${errorLog} notice;
events { worker_connections 1024; }
http {
access_log off;
${temp.join('\n')}
${http}
}
`,
  )
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const BACKEND = `${BENCH_PLACE.network}.82:3000`
export const BACKEND_URL = `http://${BACKEND}`

/** Answers everything at once, so that what is measured is the proxy before it. */
export const startBackend = (folder: string): Promise<Daemon> =>
  startBareNginx(
    folder,
    'backend',
    `keepalive_requests 1000000; server { listen ${BACKEND}; location / { return 200 "hello\\n"; } }`,
  )
