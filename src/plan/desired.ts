import { nameUnder, parseLabel, parseName } from '../model/dns-name.ts'
import { type FieldError, Problem } from '../model/errors.ts'
import type { ExposureRequest } from '../model/exposure.ts'
import { isPortAllowed, type PlanSettings } from './settings.ts'

/** A valid request that the policy allows: in canonical form, with the backend's address from the registry. */
export interface Desired {
  readonly request: ExposureRequest
  readonly host: string
  readonly url: string
  readonly backend: { readonly address: string; readonly port: number }
}

/** The grammar of fields as regular expressions, for the schema and the policy. */
export const SERVER_GRAMMAR = '^[A-Za-z0-9-]{1,32}$'
export const HEALTH_GRAMMAR = '^/(?!/)[!$%&()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~]*$'
export const LONGEST_HEALTH = 1024

/** The same in words, for refusals. */
export const GRAMMAR_IN_WORDS: Readonly<Record<string, string>> = {
  [SERVER_GRAMMAR]: 'must be the id of a server: 1 to 32 letters, digits or hyphens',
  [HEALTH_GRAMMAR]:
    'must be a path such as /healthz: one slash, then visible ASCII without spaces, quotes, brackets < > { }, backslash, ^, | and #',
}

/** Checks the rules that the schema cannot express. Lists all bad fields at once. */
function canonicalRequest(given: ExposureRequest): ExposureRequest & { host: string } {
  const errors: FieldError[] = []
  const zone = parseName(given.zone)
  const subdomain = parseLabel(given.subdomain)
  if (!zone) errors.push({ field: 'zone', message: 'must be a DNS name of letter-digit-hyphen labels' })
  if (!subdomain) {
    errors.push({ field: 'subdomain', message: 'must be one letter-digit-hyphen label of at most 63 characters' })
  }
  const host = zone && subdomain ? nameUnder(zone, subdomain) : undefined
  if (zone && subdomain && !(host && nameUnder(host, '_drawbridge'))) {
    errors.push({
      field: 'subdomain',
      message: 'must be shorter: the whole name may have 241 characters, so that the owner mark fits below it',
    })
  }
  if (!zone || !subdomain || !host || errors.length > 0)
    throw new Problem('invalid_request', badFields(errors), { errors })
  return { ...given, zone, subdomain, host }
}

export const badFields = (errors: readonly FieldError[]): string =>
  `${errors.length === 1 ? 'One field is' : `${errors.length} fields are`} not valid: ${errors.map((error) => error.field).join(', ')}.`

/** Checks the request against the policy. The first violation decides the error code; `errors` lists all violations. */
export function resolveRequest(request: ExposureRequest, settings: PlanSettings): Desired {
  const { host, ...canonical } = canonicalRequest(request)
  const refusals = policyRefusals(canonical, settings)
  const address = settings.addresses[canonical.server]
  const [first] = refusals
  if (first || !address) {
    throw new Problem(
      first?.code ?? 'server_not_allowed',
      first?.message ?? `Server ${canonical.server} has no address in the configuration.`,
      {
        errors: refusals.map(({ field, message }) => ({ field, message })),
      },
    )
  }
  return {
    request: canonical,
    host,
    url: urlOf(host, canonical.tls, settings.edge),
    backend: { address, port: canonical.port },
  }
}

function policyRefusals({ server, zone, port }: ExposureRequest, settings: PlanSettings) {
  const refusals: {
    code: 'server_not_allowed' | 'zone_not_managed' | 'port_not_allowed'
    field: string
    message: string
  }[] = []
  if (!settings.targets.includes(server)) {
    const allowed = settings.targets.join(', ') || 'none'
    refusals.push({
      code: 'server_not_allowed',
      field: 'server',
      message: `Server ${server} is not a deployment target. Allowed servers: ${allowed}.`,
    })
  }
  if (!settings.zones.has(zone)) {
    refusals.push({
      code: 'zone_not_managed',
      field: 'zone',
      message: `Zone ${zone} is not managed by this installation. Managed zones: ${[...settings.zones.keys()].join(', ') || 'none'}.`,
    })
  }
  if (!isPortAllowed(settings.ports, server, port)) {
    refusals.push({
      code: 'port_not_allowed',
      field: 'port',
      message: `Port ${port} is not allowed on server ${server}.`,
    })
  }
  return refusals
}

/** The URL for visitors. It has a port only when the edge does not use the default port of the scheme. */
function urlOf(host: string, tls: boolean, edge: PlanSettings['edge']): string {
  const port = tls ? edge.https : edge.http
  const standard = tls ? 443 : 80
  return `${tls ? 'https' : 'http'}://${host}${port === standard ? '' : `:${port}`}/`
}
