import { domainToASCII } from 'node:url'
import { type Command, InvalidArgumentError } from 'commander'
import type { ExposureRequest } from '../client/bodies.ts'
import type { DrawbridgeClient } from '../client/client.ts'
import { parseLabel } from '../model/dns-name.ts'
import { UsageError } from '../terminal/declare.ts'
import { parseDuration } from './duration.ts'
import { type OptionFlags, optionsIn, withOptions } from './option-flags.ts'
import { type OwnerOptions, withOwner } from './ownership.ts'

/** The exposure, as the options of `plan` and `up` describe it. */
export interface ExposureOptions extends OwnerOptions, OptionFlags {
  readonly server: string
  readonly port: number
  readonly health: string
  readonly tls: boolean
  readonly expiresIn?: string
  readonly replaces?: string
  readonly note?: string
}

export const withExposure = (command: Command): Command =>
  withOptions(withOwner(command))
    .requiredOption('--server <id>', 'the server on which the backend runs, such as 25')
    .requiredOption('--port <port>', 'the port of the backend on that server', wholeNumber)
    .option('--health <path>', 'the path that must answer with HTTP 2xx', '/healthz')
    .option('--no-tls', 'do not set up HTTPS')
    .option('--expires-in <duration>', 'remove the exposure automatically after this time, such as 30m, 2h or 7d')
    .option('--replaces <planId>', 'change the exposure of this applied plan for the same host')
    .option('--note <text>', 'one line about what the exposure is for')

export async function requestFor(
  api: DrawbridgeClient,
  host: string,
  options: ExposureOptions,
): Promise<ExposureRequest> {
  const { server, port, health, tls, expiresIn, replaces, owner, note } = options
  const lifetime = expiresIn === undefined ? {} : { expiresIn: parseDuration(expiresIn, '--expires-in') }
  const { zones } = await api.policy()
  const replaced = replaces === undefined ? {} : { replaces }
  const labels = { ...(owner !== undefined && { owner }), ...(note !== undefined && { note }) }
  const edge = optionsIn(options)
  const chosen = Object.keys(edge).length === 0 ? {} : { options: edge }
  const name = splitHost(host, zones)
  assertOneLabel(name)
  return { ...name, server, port, health, tls, ...lifetime, ...replaced, ...labels, ...chosen }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Use a whole number.')
  return Number(text)
}

/** The host of what a person typed or copied: `https://host/path` is a host, too. */
export function hostIn(text: string): string {
  const [, host = text] = /^https?:\/\/([^/?#:]+)(?::\d+)?(?:[/?#].*)?$/i.exec(text) ?? []
  return host
}

/** DNS has only ASCII names: a plan needs the ASCII form, which a person should see before it is published. */
function assertAscii(host: string): void {
  if ([...host].every((character) => character.charCodeAt(0) < 128)) return
  const ascii = domainToASCII(host)
  throw new UsageError(
    ascii === ''
      ? `${host} is not a DNS name. Use letters, digits and hyphens.`
      : `${host} has letters that DNS does not have. In DNS the name is ${ascii}: use that.`,
  )
}

/** Completes the first label of a name where the policy has only one zone, and takes a URL as its host. */
export async function namedHost(api: DrawbridgeClient, text: string): Promise<string> {
  const host = hostIn(text)
  if (host.includes('.') || !parseLabel(host)) return host
  const { zones } = await api.policy()
  return zones.length === 1 ? `${host}.${zones[0]}` : host
}

/** A plan makes one label below a zone. */
function assertOneLabel({ zone, subdomain }: { readonly zone: string; readonly subdomain: string }): void {
  if (parseLabel(subdomain)) return
  const host = `${subdomain}.${zone}`
  throw new UsageError(
    subdomain.includes('.')
      ? `${host} has more than one label before the zone ${zone}. Use one, such as ${subdomain.replaceAll('.', '-')}.${zone}.`
      : `${host} is not a DNS name. The part before ${zone} has letters, digits and hyphens, at most 63, and no hyphen at its ends.`,
  )
}

/** Splits a host into the longest zone of the policy that contains it and the label before that zone. */
export function splitHost(host: string, zones: readonly string[]): { zone: string; subdomain: string } {
  assertAscii(hostIn(host))
  const name = hostIn(host).toLowerCase().replace(/\.$/, '')
  const [only, ...others] = zones
  if (zones.includes(name)) throw new UsageError(`${name} is a zone. Name a host in it, such as hello.${name}.`)
  // A bare label needs no zone when there is only one.
  if (!name.includes('.') && only !== undefined && others.length === 0) return { zone: only, subdomain: name }
  const zone = zones.filter((candidate) => name.endsWith(`.${candidate}`)).toSorted((a, b) => b.length - a.length)[0]
  // The service refuses a zone that it does not manage and lists the zones that it manages.
  const cut = zone === undefined ? name.indexOf('.') : name.length - zone.length - 1
  if (cut < 0 && others.length > 0) throw new UsageError(`${name} has no zone. Add one of these: ${zones.join(', ')}.`)
  return cut < 0
    ? { zone: only ?? name, subdomain: name }
    : { zone: name.slice(cut + 1), subdomain: name.slice(0, cut) }
}
