import type { Evidence, Target } from '../model/evidence.ts'

/** Who is told, and which addresses have an id here. Outside, only those are spoken of. */
export interface Audience {
  readonly network: 'internal' | 'public'
  /** The registry: id -> address. */
  readonly servers: Readonly<Record<string, string>>
}

export const serverAt = (address: string, { servers }: Audience): string | undefined =>
  Object.entries(servers).find(([, registered]) => registered === address)?.[0]

export const maySee = (address: string, audience: Audience): boolean =>
  audience.network === 'internal' || serverAt(address, audience) !== undefined

/** How things are called in sentences for this audience. */
export interface Words {
  /** Where requests are passed on to: `port 3000 of server 25`. */
  readonly backend: string
  /** The machine behind it: `server 25`. */
  readonly machine: string
  readonly addresses: (found: readonly string[]) => string
  /** What only callers inside are told; the other sentence is for everybody. */
  readonly inside: (sentence: string, outside: string) => string
}

export function wordsFor({ target }: Evidence, audience: Audience): Words {
  return {
    backend: backendName(target.target, target.address, audience),
    machine: machineName(target.target, target.address, audience),
    addresses: (found) => {
      const shown = found.filter((address) => maySee(address, audience))
      return shown.length === found.length && found.length > 0 ? shown.join(', ') : 'another address'
    },
    inside: (sentence, outside) => (audience.network === 'internal' ? sentence : outside),
  }
}

function backendName(target: Target | null, address: string | null, audience: Audience): string {
  if (!target) return 'its backend'
  const server = serverAt(address ?? target.host, audience)
  if (server !== undefined) return `port ${target.port} of server ${server}`
  return maySee(target.host, audience) ? `${target.host} port ${target.port}` : 'its backend'
}

function machineName(target: Target | null, address: string | null, audience: Audience): string {
  if (!target) return 'the machine of the backend'
  const server = serverAt(address ?? target.host, audience)
  if (server !== undefined) return `server ${server}`
  return maySee(target.host, audience) ? target.host : 'the machine of the backend'
}
