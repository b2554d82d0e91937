import { LABEL } from '../../src/model/dns-name.ts'
import type { ExposureRequest } from '../../src/model/exposure.ts'
import type { ExposureOptions } from '../../src/model/options/grammar.ts'
import { isPortAllowed } from '../../src/plan/settings.ts'
import type { Policy } from '../api/policy.ts'

/** The values of the form, as its controls hold them. */
export interface Draft {
  readonly subdomain: string
  readonly zone: string
  readonly server: string
  readonly port: string
  readonly health: string
  readonly tls: boolean
  /** In seconds; empty means that the exposure does not expire. */
  readonly expiresIn: string
  /** The options as JSON, which a change keeps; empty without options. */
  readonly options: string
}

export type FieldName = keyof Draft
export type FieldErrors = Partial<Record<FieldName, string>>

export const firstDraft = ({ zones, servers }: Policy): Draft => ({
  subdomain: '',
  zone: zones[0] ?? '',
  server: servers.targets[0] ?? '',
  port: '',
  health: '/healthz',
  tls: true,
  expiresIn: '',
  options: '',
})

/** The values of a plan that exists, to be changed. */
export const draftOf = ({
  subdomain,
  zone,
  server,
  port,
  health,
  tls,
  expiresIn,
  options,
}: ExposureRequest): Draft => ({
  options: options ? JSON.stringify(options) : '',
  subdomain,
  zone,
  server,
  port: String(port),
  health,
  tls,
  expiresIn: expiresIn === undefined ? '' : String(expiresIn),
})

/** Checks by the policy alone. Only the service can check the name and the backend. */
export function checkField(field: FieldName, draft: Draft, policy: Policy): string | undefined {
  switch (field) {
    case 'subdomain':
      return checkSubdomain(draft.subdomain)
    case 'port':
      return checkPort(draft, policy)
    case 'health':
      return checkHealth(draft.health, policy)
    case 'zone':
      return policy.zones.includes(draft.zone) ? undefined : 'Choose one of the zones that are managed here.'
    case 'server':
      return policy.servers.targets.includes(draft.server) ? undefined : 'Choose one of the target servers.'
    default:
      return undefined
  }
}

const FIELDS: readonly FieldName[] = ['subdomain', 'zone', 'server', 'port', 'health']

export function checkAll(draft: Draft, policy: Policy): FieldErrors {
  const errors = FIELDS.map((field) => [field, checkField(field, draft, policy)] as const)
  return Object.fromEntries(errors.filter(([, error]) => error !== undefined))
}

function checkSubdomain(text: string): string | undefined {
  if (text === '') return 'Give the name a first part, such as hello.'
  if (text.includes('.')) return 'One label only: the zone is chosen beside it.'
  if (text.length > 63) return 'At most 63 characters.'
  return LABEL.test(text.toLowerCase()) ? undefined : 'Letters, digits and inner hyphens only.'
}

function checkPort({ port, server }: Draft, { ports }: Policy): string | undefined {
  if (!/^[0-9]{1,5}$/.test(port)) return 'Enter the number of the backend’s port.'
  const number = Number(port)
  if (isPortAllowed(ports, server, number)) return undefined
  return ports.denied.includes(number) || ports.deniedOn[server]?.includes(number)
    ? `Port ${number} is reserved for Drawbridge. Allowed: ${portRanges(ports.allowed)}.`
    : `Port ${number} is not allowed. Allowed: ${portRanges(ports.allowed)}.`
}

export const portRanges = (ranges: Policy['ports']['allowed']): string =>
  ranges.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(', ')

function checkHealth(path: string, { health }: Policy): string | undefined {
  if (!path.startsWith('/')) return 'A path begins with /.'
  return new RegExp(health.pattern).test(path)
    ? undefined
    : 'Visible ASCII only, without spaces, quotes or < > \\ ^ { | } # `.'
}

export const isSameDraft = (a: Draft, b: Draft): boolean =>
  (Object.keys(a) as FieldName[]).every((field) => a[field] === b[field])

export const hostOf = ({ subdomain, zone }: Draft): string => `${subdomain.trim().toLowerCase()}.${zone}`

export const requestOf = ({
  subdomain,
  zone,
  server,
  port,
  health,
  tls,
  expiresIn,
  options,
}: Draft): ExposureRequest => ({
  ...(options && { options: JSON.parse(options) as ExposureOptions }),
  zone,
  subdomain: subdomain.trim(),
  server,
  port: Number(port),
  health,
  tls,
  ...(expiresIn && { expiresIn: Number(expiresIn) }),
})
