import { type Command, InvalidArgumentError } from 'commander'
import type { ExposureRequest } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { parseDuration } from './duration.ts'
import { splitHost } from './host.ts'
import type { Connected } from './reach.ts'

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
