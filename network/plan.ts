import type { Endpoint } from '../lab/addresses.ts'

/** The addresses of the specification. */
export const ZONE = 'example.test'

const LAN = { switch: 'lan', prefix: '192.168.45', gateway: '192.168.45.1' } as const
const OUTSIDE = { switch: 'outside', prefix: '198.51.100', gateway: '198.51.100.1' } as const
/** The two networks, with a router between them that translates no address. */
export const NETWORKS = [LAN, OUTSIDE] as const

export type MachineId = '23' | '73' | '25' | '253' | '10' | 'ca' | 'public'

/** One machine of the network. `parts`: what runs there, in the order of its start. */
interface MachinePlan {
  readonly network: (typeof NETWORKS)[number]
  readonly address: string
  readonly parts: readonly string[]
}

const on = (network: MachinePlan['network'], last: number, ...parts: string[]): MachinePlan => ({
  network,
  address: `${network.prefix}.${last}`,
  parts,
})

export const MACHINES: Readonly<Record<MachineId, MachinePlan>> = {
  '23': on(LAN, 23, 'postgres', 'named', 'nginx', 'edge', 'service'),
  '73': on(LAN, 73, 'named', 'nginx', 'edge'),
  '25': on(LAN, 25, 'backend', 'service'),
  '253': on(LAN, 253, 'backend'),
  '10': on(LAN, 10),
  ca: on(OUTSIDE, 20, 'pebble'),
  public: on(OUTSIDE, 9),
}

export const MACHINE_IDS = Object.keys(MACHINES) as MachineId[]

/** The name of a machine's cable inside the machine. */
export const INTERFACE = 'eth0'

export const addressOf = (machine: MachineId): string => MACHINES[machine].address

const at = (machine: MachineId, port: number): Endpoint => ({ address: addressOf(machine), port })

export const EDGE_PORTS = { http: 80, https: 443 }
export const DNS = { primary: at('23', 53), secondary: at('73', 53) }
export const ACME = { api: at('ca', 14_000), management: at('ca', 15_000) }
export const DATABASE = at('23', 5432)
/** The machines with an instance of the service. */
export const INSTANCES = { '23': at('23', 8045), '25': at('25', 8045) }
/** The machines with an edge agent: where it listens for services on other machines. */
export const AGENTS = { '23': at('23', 8046), '73': at('73', 8046) }
/** In the /run of machine 23, which no other machine sees. */
export const AGENT_SOCKET = '/run/drawbridge/edge-23.sock'
export const BACKENDS = {
  '25': { server: '25', ...at('25', 3000), healthStatus: 200 },
  '253': { server: '253', ...at('253', 3000), healthStatus: 503 },
}

/** The service runs as this user. Only the machines know it: it is not added to the users of the host. */
export const SERVICE_USER = { name: 'drawbridge', id: 8045 }
