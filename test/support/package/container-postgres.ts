import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../network/postgres.ts'

const PORT = 5432
const RUN = '/run/postgresql'
const CLUSTER = `${RUN}/cluster`
const NAME = 'drawbridge'

/** What compose.yaml starts beside the container, by Debian's own PostgreSQL: database, user and a password in a file. */
export class ContainerPostgres {
  readonly #password: string

  private constructor(password: string) {
    this.#password = password
  }

  /** Must be called in a mount namespace of its own: data and sockets lie in its /run. `folder`: for the password. */
  static async start(folder: string): Promise<ContainerPostgres> {
    const password = execFileSync('openssl', ['rand', '-hex', '24'], { encoding: 'utf8' }).trim()
    const passwordFile = join(folder, 'postgres.password')
    writeFileSync(passwordFile, password, { mode: 0o600 })
    mkdirSync(RUN, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', RUN])
    const address = '127.0.0.1'
    await startPostgres({ folder: CLUSTER, address, port: PORT, name: NAME, passwordFile, callers: [address] })
    return new ContainerPostgres(password)
  }

  get url(): string {
    return `postgres://${NAME}:${this.#password}@127.0.0.1:${PORT}/${NAME}`
  }

  /** From now on it takes connections with TLS only. Resolves with the certificate. */
  requireTls(): string {
    const [data, certificate, key] = [`${CLUSTER}/data`, `${CLUSTER}/own.crt`, `${CLUSTER}/own.key`]
    const pair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', certificate]
    const subject = ['-days', '30', '-subj', '/CN=postgres', '-addext', 'subjectAltName=IP:127.0.0.1']
    execFileSync('openssl', ['req', '-x509', ...pair, ...subject], { stdio: 'pipe' })
    execFileSync('chown', ['postgres:', certificate, key])
    chmodSync(key, 0o600)
    const rules = `${data}/pg_hba.conf`
    writeFileSync(rules, readFileSync(rules, 'utf8').replaceAll(/^host /gm, 'hostssl '))
    const settings = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(`${data}/postgresql.conf`, lines.join(''))
    this.ask('select pg_reload_conf()')
    return readFileSync(certificate, 'utf8')
  }

  /** The one value that a query of the superuser has. */
  ask(query: string): string {
    const psql = ['psql', '-h', RUN, '-p', String(PORT), '-d', NAME, '-At', '-c', query]
    return execFileSync('runuser', ['-u', 'postgres', '--', ...psql], { cwd: '/', encoding: 'utf8' }).trim()
  }
}
