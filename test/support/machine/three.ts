import type { Suite } from '../package/clean-root.ts'
import { Machine } from './machine.ts'
import { ADDRESS, BACKEND, ISSUING_ROOTS, surround } from './surroundings.ts'

export const SECONDARY = '192.168.45.73'
const MORE = { kind: 'machine-of-three', packages: ['postgresql', 'openssh-server', 'openssh-client'] }

export interface ThreeMachines extends AsyncDisposable {
  readonly '23': Machine
  readonly '25': Machine
  readonly '73': Machine
}

/** Three booted machines at one switch. Machine 23 has BIND, the authority, PostgreSQL and the switch; 25 has the backend. */
export async function bootThree(suite: Suite): Promise<ThreeMachines> {
  await using stack = new AsyncDisposableStack()
  const boot = async () => stack.use(await Machine.boot(suite, MORE))
  // The first one makes the root.
  const first = await boot()
  const [second, third] = [await boot(), await boot()]
  await surround(first)
  await first.done(`systemctl disable --now backend; ip addr del ${BACKEND}/32 dev lan0`)
  await first.done('ip link add switch type bridge && ip link set switch up && ip link set cable0 master switch')
  await plugIn(first, second, 'cable25', BACKEND)
  await plugIn(first, third, 'cable73', SECONDARY)
  for (const file of ['/etc/systemd/system/backend.service', '/srv/backend/index.html', '/srv/backend/healthz'])
    await second.write(file, await first.read(file))
  await second.done('systemctl daemon-reload && systemctl start backend')
  await trustEachOther(first, second)
  await startPostgres(first)
  await third.write(ISSUING_ROOTS, await first.read(ISSUING_ROOTS))
  const kept = stack.move()
  return { '23': first, '25': second, '73': third, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function plugIn(first: Machine, other: Machine, cable: string, address: string): Promise<void> {
  await first.cable(cable, other, 'lan0')
  await first.done(`ip link set ${cable} master switch && ip link set ${cable} up`)
  await other.done(`ip link set lan0 up && ip addr add ${address}/24 dev lan0`)
}

/** root of the first machine may log in on the second one. */
async function trustEachOther(first: Machine, second: Machine): Promise<void> {
  await first.done("mkdir -p -m 0700 /root/.ssh && ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519")
  await second.write('/root/.ssh/authorized_keys', await first.read('/root/.ssh/id_ed25519.pub'), '0600')
  await second.done('chmod 0700 /root/.ssh && systemctl start ssh')
  const key = (await second.read('/etc/ssh/ssh_host_ed25519_key.pub')).split(' ').slice(0, 2).join(' ')
  await first.write('/root/.ssh/known_hosts', `${BACKEND} ${key}\n`)
}

/** Debian's PostgreSQL with a certificate for its address, and an empty database. */
async function startPostgres(machine: Machine): Promise<void> {
  const request = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=postgres'
  const files = '-keyout /etc/postgresql/own.key -out /etc/postgresql/own.crt'
  await machine.done(
    `${request} -addext subjectAltName=IP:${ADDRESS} ${files} && chown postgres: /etc/postgresql/own.*`,
  )
  const settings = `listen_addresses = '${ADDRESS}'\nssl = on\nssl_cert_file = '/etc/postgresql/own.crt'\nssl_key_file = '/etc/postgresql/own.key'\n`
  await machine.done(`printf '%s' "${settings}" >>"$(echo /etc/postgresql/*/main/postgresql.conf)"`)
  const callers = [ADDRESS, BACKEND].map((address) => `hostssl drawbridge drawbridge ${address}/32 scram-sha-256`)
  await machine.done(`printf '%s\\n' "${callers.join('\n')}" >>"$(echo /etc/postgresql/*/main/pg_hba.conf)"`)
  await machine.done('systemctl restart postgresql && systemctl restart "postgresql@*"')
  const sql = "create role drawbridge login password 'secret-of-the-test'; "
  await machine.done(`cd / && runuser -u postgres -- psql -v ON_ERROR_STOP=1 -c "${sql}"`)
  await machine.done('cd / && runuser -u postgres -- createdb -O drawbridge drawbridge')
}
