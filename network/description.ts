import { type Endpoint, urlOf } from '../lab/addresses.ts'
import type { EdgeDescription } from '../lab/description.ts'
import { logsOf, TSIG } from './parts.ts'
import { edgeOf, type Paths } from './paths.ts'
import { ACME, addressOf, DNS, INSTANCES, INTERFACE, MACHINE_IDS, type MachineId, ZONE } from './plan.ts'

/** The content of `STATE/network.json`, for scripts. */
export interface NetworkDescription {
  readonly zone: string
  readonly api: Readonly<Record<keyof typeof INSTANCES, string>>
  readonly machines: Readonly<Record<MachineId, MachineDescription>>
  readonly dns: {
    readonly primary: Endpoint
    readonly secondary: Endpoint
    readonly tsig: { readonly name: string; readonly algorithm: string; readonly secretFile: string }
  }
  readonly edges: Readonly<Record<'23' | '73', EdgeDescription>>
  /** `ca`: a file with every root certificate so far. */
  readonly acme: { readonly directory: string; readonly ca: string }
  readonly configs: Readonly<Record<keyof typeof INSTANCES, string>>
  readonly logs: Readonly<Record<string, Readonly<Record<string, string>>>>
}

interface MachineDescription {
  readonly address: string
  /** The path of its network namespace, for `nsenter --net=`. */
  readonly namespace: string
  /** The name of its cable, inside. */
  readonly interface: string
  /** Only parts that run. */
  readonly pids: Readonly<Record<string, number>>
}

export const ACME_DIRECTORY = `https://${ACME.api.address}:${ACME.api.port}/dir`

export const configFile = (paths: Paths, machine: keyof typeof INSTANCES): string =>
  paths.of(machine, 'drawbridge.yaml')

export function describeNetwork(
  paths: Paths,
  namespaceOf: (machine: MachineId) => string,
  pidsOf: (machine: MachineId) => Readonly<Record<string, number>>,
): NetworkDescription {
  const machine = (id: MachineId): MachineDescription => ({
    address: addressOf(id),
    namespace: namespaceOf(id),
    interface: INTERFACE,
    pids: pidsOf(id),
  })
  const logs = MACHINE_IDS.map((id) => [id, logsOf(paths, id)] as const)
  return {
    zone: ZONE,
    api: { '23': urlOf(INSTANCES['23']), '25': urlOf(INSTANCES['25']) },
    machines: Object.fromEntries(MACHINE_IDS.map((id) => [id, machine(id)])) as NetworkDescription['machines'],
    dns: { ...DNS, tsig: { ...TSIG, secretFile: paths.tsigSecret } },
    edges: { '23': edgeOf(paths, '23'), '73': edgeOf(paths, '73') },
    acme: { directory: ACME_DIRECTORY, ca: paths.ca },
    configs: { '23': configFile(paths, '23'), '25': configFile(paths, '25') },
    logs: Object.fromEntries(logs.filter(([, files]) => Object.keys(files).length > 0)),
  }
}
