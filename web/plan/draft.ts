import { LABEL } from '../../src/model/dns-name.ts'
import { type ExposureRequest, isNote, isOwner } from '../../src/model/exposure.ts'
import { isPortAllowed } from '../../src/plan/settings.ts'
import type { Policy } from '../api/policy.ts'
import { errorsIn, type OptionTexts, optionsOf, textsOf } from './option-texts.ts'

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
  /** What the controls of the options hold, as JSON; empty without options. */
  readonly options: string
  /** Who is responsible, and what the exposure is for. Empty: nothing is said. */
  readonly owner: string
  readonly note: string
}

export type FieldName = keyof Draft
export type FieldErrors = Partial<Record<FieldName, string>>

/** Nothing is chosen where there is a choice. */
export const firstDraft = ({ zones, servers }: Policy): Draft => ({
  subdomain: '',
  zone: onlyOne(zones),
  server: onlyOne(servers.targets),
  port: '',
  health: '',
  tls: true,
  expiresIn: '',
  options: '',
  owner: '',
  note: '',
})

const onlyOne = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : '')

/** What an empty health path stands for. */
export const USUAL_HEALTH = '/healthz'

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
  owner = '',
  note = '',
}: ExposureRequest): Draft => ({
  owner,
  note,
  options: options ? JSON.stringify(textsOf(options)) : '',
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
    case 'owner':
      return draft.owner.trim() === '' || isOwner(draft.owner.trim())
        ? undefined
        : 'Letters, digits and . _ @ + - only.'
    case 'note':
      return draft.note.trim() === '' || isNote(draft.note.trim())
        ? undefined
        : 'Letters, digits and plain punctuation only.'
    case 'options': {
      const wrong = Object.values(errorsIn(textsIn(draft.options)))
      return wrong.length === 0 ? undefined : wrong.join(' ')
    }
    default:
      return undefined
  }
}

const FIELDS: readonly FieldName[] = ['subdomain', 'zone', 'server', 'port', 'health', 'options', 'owner', 'note']

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
  if (path === '') return undefined
  if (!path.startsWith('/')) return 'A path begins with /.'
  return new RegExp(health.pattern).test(path)
    ? undefined
    : 'Visible ASCII only, without spaces, quotes or < > \\ ^ { | } # `.'
}

export const isSameDraft = (a: Draft, b: Draft): boolean =>
  (Object.keys(a) as FieldName[]).every((field) => a[field] === b[field])

export const hostOf = ({ subdomain, zone }: Draft): string => `${subdomain.trim().toLowerCase()}.${zone}`

/** `isPermanent`: the plan replaces an exposure that has no end and cannot get one. A kept draft may still hold one. */
export const requestOf = (
  { subdomain, zone, server, port, health, tls, expiresIn, options, owner, note }: Draft,
  isPermanent: boolean,
): ExposureRequest => ({
  ...(owner.trim() && { owner: owner.trim() }),
  ...(note.trim() && { note: note.trim() }),
  ...optionsIn(options),
  zone,
  subdomain: subdomain.trim(),
  server,
  port: Number(port),
  health: health || USUAL_HEALTH,
  tls,
  ...(expiresIn && !isPermanent && { expiresIn: Number(expiresIn) }),
})

export const textsIn = (options: string): OptionTexts => (options === '' ? {} : (JSON.parse(options) as OptionTexts))

function optionsIn(text: string): Pick<ExposureRequest, 'options'> {
  const options = optionsOf(textsIn(text))
  return options ? { options } : {}
}
