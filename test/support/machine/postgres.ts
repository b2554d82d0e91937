import type { Machine } from './machine.ts'
import { ADDRESS, BACKEND } from './surroundings.ts'

/** A root with PostgreSQL, and with what a person needs who works on one machine from another. */
export const WITH_POSTGRES = {
  kind: 'machine-with-postgres',
  packages: ['postgresql', 'openssh-server', 'openssh-client'],
}
const PASSWORD = 'secret-of-the-test'
const CERTIFICATE = '/etc/postgresql/own.crt'
/** What `startPostgres` made, as docs/operations.md writes it. */
export const POSTGRES_URL = `postgres://drawbridge:${PASSWORD}@${ADDRESS}:5432/drawbridge?sslmode=verify-full&sslrootcert=/etc/drawbridge/postgres-ca.crt`

/** Debian's PostgreSQL with a certificate for its address, and an empty database that lets in 23 and 25 by `POSTGRES_URL`. */
export async function startPostgres(machine: Machine): Promise<void> {
  const request = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=postgres'
  const files = `-keyout /etc/postgresql/own.key -out ${CERTIFICATE}`
  await machine.done(
    `${request} -addext subjectAltName=IP:${ADDRESS} ${files} && chown postgres: /etc/postgresql/own.*`,
  )
  const settings = `listen_addresses = '${ADDRESS}'\nssl = on\nssl_cert_file = '${CERTIFICATE}'\nssl_key_file = '/etc/postgresql/own.key'\n`
  await machine.done(`printf '%s' "${settings}" >>"$(echo /etc/postgresql/*/main/postgresql.conf)"`)
  const callers = [ADDRESS, BACKEND].map((address) => `hostssl drawbridge drawbridge ${address}/32 scram-sha-256`)
  await machine.done(`printf '%s\\n' "${callers.join('\n')}" >>"$(echo /etc/postgresql/*/main/pg_hba.conf)"`)
  await machine.done('systemctl restart postgresql && systemctl restart "postgresql@*"')
  const sql = `create role drawbridge login password '${PASSWORD}'; `
  await machine.done(`cd / && runuser -u postgres -- psql -v ON_ERROR_STOP=1 -c "${sql}"`)
  await machine.done('cd / && runuser -u postgres -- createdb -O drawbridge drawbridge')
}

/** The authority of the certificate of PostgreSQL on `first`, where a service on `other` looks for it. */
export async function trustPostgres(first: Machine, other: Machine): Promise<void> {
  await other.write('/etc/drawbridge/postgres-ca.crt', await first.read(CERTIFICATE))
}
