import { nameUnder, parseLabel, parseName } from '../model/dns-name.ts'
import { type FieldError, Problem } from '../model/errors.ts'
import type { ExposureRequest } from '../model/exposure.ts'
import { isPortAllowed, type PlanSettings } from './settings.ts'

/** What is wanted, once the request has passed grammar and policy: canonical, resolved against the registry. */
export interface Desired {
  readonly request: ExposureRequest
  readonly host: string
  readonly url: string
  readonly backend: { readonly address: string; readonly port: number }
}

/** Grammar of the fields as text, where a regular expression can say it: shared by the schema and the policy. */
export const SERVER_GRAMMAR = '^[A-Za-z0-9-]{1,32}$'
export const HEALTH_GRAMMAR = '^/(?!/)[!$%&()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~]*$'
export const LONGEST_HEALTH = 1024

/** Grammar beyond what the schema says. All bad fields are named at once. */
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
    errors.push({ field: 'subdomain', message: 'makes a name of over 241 characters, which no owner mark fits under' })
  }
  if (!zone || !subdomain || !host || errors.length > 0)
    throw new Problem('invalid_request', badFields(errors), { errors })
  return { ...given, zone, subdomain, host }
}

export const badFields = (errors: readonly FieldError[]): string =>
  `${errors.length === 1 ? 'One field is' : `${errors.length} fields are`} not valid: ${errors.map((error) => error.field).join(', ')}.`

/** Policy: server, zone and port must be allowed here. The first that is not gives the code, all are listed. */
export function desire(request: ExposureRequest, settings: PlanSettings): Desired {
  const { host, ...canonical } = canonicalRequest(request)
  const refusals = policyRefusals(canonical, settings)
  const address = settings.addresses[canonical.server]
  const [first] = refusals
  if (first || !address) {
    throw new Problem(first?.code ?? 'server_not_allowed', first?.message ?? 'The server has no address.', {
      errors: refusals.map(({ field, message }) => ({ field, message })),
    })
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
      message: `Server ${server} is not a deployment target; allowed: ${allowed}.`,
    })
  }
  if (!settings.zones.has(zone)) {
    refusals.push({ code: 'zone_not_managed', field: 'zone', message: `Zone ${zone} is not managed here.` })
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

/** The address people will type. The edge's port shows only where it is not the scheme's own. */
function urlOf(host: string, tls: boolean, edge: PlanSettings['edge']): string {
  const port = tls ? edge.https : edge.http
  const standard = tls ? 443 : 80
  return `${tls ? 'https' : 'http'}://${host}${port === standard ? '' : `:${port}`}/`
}
