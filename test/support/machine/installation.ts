import { until } from '../until.ts'
import type { Machine } from './machine.ts'
import { ADDRESS, AUTHORITY_CA, BACKEND, DIRECTORY, ISSUING_ROOTS, ZONE } from './surroundings.ts'

const UNITS = ['drawbridge-edge', 'drawbridge'] as const

/** The commands from the package file to a running service, as an administrator types them. */
export async function setUp(machine: Machine, deb: string): Promise<void> {
  await machine.copyIn(deb, '/root/drawbridge.deb')
  await machine.done('apt-get install -y /root/drawbridge.deb')
  const printed = await machine.done(
    `drawbridge init --agent --yes --zone ${ZONE} --dns-server ${ADDRESS} --address ${ADDRESS} --internal-network 192.168.45.0/24 ` +
      `--target 25=${BACKEND} --acme-directory ${DIRECTORY}`,
  )
  await pasteKey(machine, printed)
  await machine.done(`cp ${AUTHORITY_CA} /etc/drawbridge/authority.pem`)
  await machine.done('echo "  caFile: authority.pem" >>/etc/drawbridge/drawbridge.yaml')
  await machine.done('systemctl enable --now drawbridge-edge drawbridge')
  await ready(machine)
}

/** Puts what `init` printed for BIND into its configuration, as an administrator does. */
async function pasteKey(machine: Machine, printed: string): Promise<void> {
  const [, key] = /^ {2}(key "drawbridge\." \{.*)$/m.exec(printed) ?? []
  const [, policy] = /^ {2}zone "example\.test" \{ …; (update-policy .*) \};$/m.exec(printed) ?? []
  if (key === undefined || policy === undefined) throw new Error(`init printed no key for BIND:\n${printed}`)
  const file = '/etc/bind/named.conf.local'
  const zone = (await machine.read(file)).replace(' };', ` ${policy} };`)
  await machine.write(file, `${key}\n${zone}`)
  await machine.done('rndc reconfig')
}

export async function ready(machine: Machine): Promise<void> {
  const answers = async () => (await machine.sh(`curl -sf http://${ADDRESS}:8045/readyz`)).code === 0
  await until('the service is ready', answers, 60_000)
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

/** What a served host answers. */
export const PAGE = 'a page of 25 200'

/** `active` or `failed` and the like, for both units. */
export async function states(machine: Machine): Promise<string[]> {
  const { output } = await machine.sh(`systemctl is-active ${UNITS.join(' ')}`)
  return output.trim().split('\n')
}
