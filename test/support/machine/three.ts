import type { Suite } from '../package/clean-root.ts'
import { Machine } from './machine.ts'
import { startPostgres, WITH_POSTGRES } from './postgres.ts'
import { BACKEND, ISSUING_ROOTS, surround } from './surroundings.ts'

export const SECONDARY = '192.168.45.73'

export interface ThreeMachines extends AsyncDisposable {
  readonly '23': Machine
  readonly '25': Machine
  readonly '73': Machine
}

/** Three booted machines at one switch. Machine 23 has BIND, the authority, PostgreSQL and the switch; 25 has the backend. */
export async function bootThree(suite: Suite): Promise<ThreeMachines> {
  await using stack = new AsyncDisposableStack()
  const boot = async () => stack.use(await Machine.boot(suite, WITH_POSTGRES))
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
