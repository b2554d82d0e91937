import { type Command, InvalidArgumentError } from 'commander'
import type { ExposureRequest } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { UsageError } from '../terminal/declare.ts'
import type { Connected } from './api-client.ts'

/** What is to be exposed, as `plan` and `up` take it. */
export interface ExposureOptions extends Connected {
  readonly server: string
  readonly port: number
  readonly health: string
  readonly tls: boolean
  readonly expiresIn?: string
}

export const withExposure = (command: Command): Command =>
  command
    .requiredOption('--server <id>', 'the server that the backend runs on, such as 25')
    .requiredOption('--port <port>', "the backend's port on it", wholeNumber)
    .option('--health <path>', 'the path that must answer with HTTP 2xx', '/healthz')
    .option('--no-tls', 'without HTTPS')
    .option('--expires-in <duration>', 'let it remove itself after that time, such as 30m, 2h or 7d')

/** Plans; nothing is changed by that. */
export async function planFor(api: DrawbridgeClient, host: string, options: ExposureOptions) {
  const { server, port, health, tls, expiresIn } = options
  const lifetime = expiresIn === undefined ? {} : { expiresIn: parseDuration(expiresIn, '--expires-in') }
  const { zones } = await api.policy()
  const request: ExposureRequest = { ...splitHost(host, zones), server, port, health, tls, ...lifetime }
  return api.plan(request)
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** A host as a plan names it: the longest zone of the policy that it lies in, and the label before it. */
export function splitHost(host: string, zones: readonly string[]): { zone: string; subdomain: string } {
  const name = host.toLowerCase().replace(/\.$/, '')
  const [only, ...others] = zones
  // One zone and a bare label: there is nothing to choose from.
  if (!name.includes('.') && only !== undefined && others.length === 0) return { zone: only, subdomain: name }
  const zone = zones.filter((candidate) => name.endsWith(`.${candidate}`)).toSorted((a, b) => b.length - a.length)[0]
  // A zone that is not managed is for the service to refuse: it says which there are.
  const cut = zone === undefined ? name.indexOf('.') : name.length - zone.length - 1
  return cut < 0
    ? { zone: only ?? name, subdomain: name }
    : { zone: name.slice(cut + 1), subdomain: name.slice(0, cut) }
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90s`, `30m`, `2h`, `7d` or bare seconds, as seconds. */
export function parseDuration(text: string, option: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  if (count === undefined) throw new UsageError(`${option} ${text} is no duration; say it like 30m, 2h or 7d`)
  return Number(count) * (UNITS[unit] ?? 1)
}
