import { nameUnder, parseLabel, parseName } from '../model/dns-name.ts'
import { type FieldError, Problem } from '../model/errors.ts'
import type { EntryOptions, ExposureRequest } from '../model/exposure.ts'
import type { ExposureOptions } from '../model/options/grammar.ts'
import { readOptions } from '../model/options/read-options.ts'
import { isPortAllowed, type PlanSettings } from './settings.ts'

/** A valid request that the policy allows: in canonical form, with the backend's address from the registry. */
export interface Desired {
  readonly request: ExposureRequest
  readonly host: string
  readonly url: string
  readonly backend: BackendAddress
  /** Set exactly when the request names further backends. */
  readonly furtherBackends?: readonly BackendAddress[]
  /** Of the request, without its backends. */
  readonly entryOptions?: EntryOptions | undefined
}

interface BackendAddress {
  readonly address: string
  readonly port: number
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
  const { options: givenOptions, ...plain } = given
  const read = givenOptions === undefined ? { options: undefined } : readOptions(givenOptions)
  if ('errors' in read && read.errors) errors.push(...read.errors)
  const options = 'options' in read ? read.options : undefined
  if (options?.headers?.hsts && !given.tls)
    errors.push({ field: 'options.headers.hsts', message: 'needs tls: true, because browsers heed it over HTTPS only' })
  if (!zone || !subdomain || !host || errors.length > 0)
    throw new Problem('invalid_request', badFields(errors), { errors })
  return { ...plain, zone, subdomain, host, ...(options && { options }) }
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
    ...(canonical.options && withOptions(canonical.options, settings)),
  }
}

function withOptions({ backends, ...entry }: ExposureOptions, { addresses }: PlanSettings) {
  const further = backends?.map(({ server, port }) => ({ address: addresses[server] ?? '', port }))
  return {
    ...(further && { furtherBackends: further }),
    ...(Object.keys(entry).length > 0 && { entryOptions: entry }),
  }
}

interface PolicyRefusal {
  readonly code: 'server_not_allowed' | 'zone_not_managed' | 'port_not_allowed' | 'invalid_request'
  readonly field: string
  readonly message: string
}

function policyRefusals(request: ExposureRequest, settings: PlanSettings): readonly PolicyRefusal[] {
  const { server, zone, port, options = {} } = request
  const refusals: PolicyRefusal[] = []
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
  return [...refusals, ...optionRefusals(options, settings)]
}

/** Ids and servers that the configuration does not have. */
function optionRefusals(options: ExposureOptions, settings: PlanSettings): readonly PolicyRefusal[] {
  const { named } = settings
  const backends = (options.backends ?? []).flatMap(({ server, port }, at): PolicyRefusal[] => {
    const field = `options.backends.${at}`
    if (!settings.targets.includes(server) || settings.addresses[server] === undefined)
      return [{ code: 'server_not_allowed', field, message: `Server ${server} is not a deployment target.` }]
    const isAllowed = isPortAllowed(settings.ports, server, port)
    const message = `Port ${port} is not allowed on server ${server}.`
    return isAllowed ? [] : [{ code: 'port_not_allowed', field, message }]
  })
  const asked = [
    { field: 'options.basicAuth', ids: options.basicAuth, known: named?.passwords, what: 'password file' },
    {
      field: 'options.backendTls.authority',
      ids: options.backendTls?.authority,
      known: named?.authorities,
      what: 'authority',
    },
    { field: 'options.snippets', ids: options.snippets, known: named?.snippets, what: 'snippet' },
  ]
  const ids = asked.flatMap(({ field, ids = [], known = [], what }) =>
    [ids]
      .flat()
      .filter((id) => !known.includes(id))
      .map((id) => ({
        code: 'invalid_request' as const,
        field,
        message: `The configuration has no ${what} with the id ${id}.`,
      })),
  )
  return [...backends, ...ids]
}

/** The URL for visitors. It has a port only when the edge does not use the default port of the scheme. */
function urlOf(host: string, tls: boolean, edge: PlanSettings['edge']): string {
  const port = tls ? edge.https : edge.http
  const standard = tls ? 443 : 80
  return `${tls ? 'https' : 'http'}://${host}${port === standard ? '' : `:${port}`}/`
}
