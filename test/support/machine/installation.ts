import { until } from '../until.ts'
import type { Machine } from './machine.ts'
import { ADDRESS, AUTHORITY_CA, BACKEND, DIRECTORY, ISSUING_ROOTS, ZONE } from './surroundings.ts'

const UNITS = ['drawbridge-edge', 'drawbridge']

/** What an administrator answers to the questions of `drawbridge init`, in order. */
const ANSWERS = [
  ['The DNS zone', ZONE],
  ['The authoritative DNS server', ''],
  ['The address of this server', ADDRESS],
  ['The network whose callers', ''],
  ['The other servers with services', `25=${BACKEND}`],
  ['The certificate authority', DIRECTORY],
  ['The file with the root certificate', AUTHORITY_CA],
  ['Write these files', 'y'],
] as const

/**
 * From the package file to a running service, by the commands that the one before printed. Resolves with them. `init` prints what to
 * paste into the configuration of BIND, too.
 */
export async function setUp(machine: Machine, deb: string): Promise<string[]> {
  await machine.copyIn(deb, '/root/drawbridge.deb')
  const commands = ['apt-get install -y /root/drawbridge.deb']
  const printedBy = async (text: string, command: string, printed: string) => {
    if (!text.includes(printed)) throw new Error(`${command} does not print ${printed}:\n${text}`)
    commands.push(printed)
    return printed
  }
  const installed = await machine.done(commands[0] ?? '')
  const init = await machine.onTerminal(await printedBy(installed, 'apt install', 'drawbridge init'), ANSWERS)
  if (init.code !== 0) throw new Error(`drawbridge init ended with ${init.code}:\n${init.output}`)
  await pasteKey(machine, init.output)
  await machine.done(await printedBy(init.output, 'init', 'rndc reconfig'))
  await machine.done(await printedBy(init.output, 'init', 'systemctl enable --now drawbridge-edge drawbridge'))
  await printedBy(init.output, 'init', `drawbridge up app.${ZONE} --server 25 --port 3000`)
  return commands
}

/** Puts what `init` printed for BIND into its configuration, as an administrator does. */
async function pasteKey(machine: Machine, printed: string): Promise<void> {
  const [, key] = /^ {2}(key "drawbridge\." \{.*\};)\r?$/m.exec(printed) ?? []
  const [, policy] = /^ {2}zone "example\.test" \{ …; (update-policy .*) \};\r?$/m.exec(printed) ?? []
  if (key === undefined || policy === undefined) throw new Error(`init printed no key for BIND:\n${printed}`)
  const file = '/etc/bind/named.conf.local'
  const zone = (await machine.read(file)).replace(' };', ` ${policy} };`)
  await machine.write(file, `${key}\n${zone}`)
}

export async function ready(machine: Machine): Promise<void> {
  const answers = async () => (await machine.sh(`curl -sf http://${ADDRESS}:8045/readyz`)).code === 0
  await until('the service is ready', answers)
}

export function expose(machine: Machine, host: string) {
  return machine.sh(`drawbridge up ${host} --server 25 --port 3000 --health /healthz --yes`)
}

/** What a visitor gets over HTTPS: the status and the page, or what is wrong. */
export async function visit(machine: Machine, host: string): Promise<string> {
  const trusted = `--cacert ${ISSUING_ROOTS} --resolve ${host}:443:${ADDRESS}`
  const { output } = await machine.sh(`curl -sS --max-time 10 ${trusted} -w ' %{http_code}' https://${host}/`)
  return output.replaceAll('\n', '')
}

/** What visitors of these addresses get during `work`: the status, and how curl ended. */
export async function visitsDuring(
  machine: Machine,
  addresses: readonly string[],
  work: () => Promise<unknown>,
): Promise<string[]> {
  const trusted = `--cacert ${ISSUING_ROOTS} --max-time 10 --connect-to ::${ADDRESS}:`
  const ask = addresses.map((address) => `curl -s -o /dev/null -w '%{http_code} %{exitcode}\\n' ${trusted} ${address}`)
  const visits = machine.done(`rm -f /tmp/visited; while [ ! -e /tmp/visited ]; do ${ask.join('; ')}; done; true`, {
    seconds: 600,
  })
  // Where the work fails, its own error is told.
  visits.catch(() => undefined)
  await work().finally(() => machine.done('touch /tmp/visited'))
  return (await visits).trim().split('\n')
}

/** What a served host answers. */
export const PAGE = 'a page of 25 200'

/** `active` or `failed` and the like, for both units. */
export async function states(machine: Machine): Promise<string[]> {
  const { output } = await machine.sh(`systemctl is-active ${UNITS.join(' ')}`)
  return output.trim().split('\n')
}
