import { ERRORS, type ErrorCode, Problem } from '../../model/errors.ts'
import type { Change, ExposureRequest } from '../../model/exposure.ts'
import type { Check } from '../../model/finding.ts'
import { BROKEN_PROXY, NOT_NEEDED, TAKEN_BY_PROXY, UNPREPARED_PROXY } from '../../plan/checks.ts'

/**
 * What public callers see of plans and refusals: the request and the status of each check and step. They see no internals: no
 * run, backend address, access list, DNS server, resolver, key, file, line, ACME directory or raw error.
 */

/** The members of a check's evidence that public callers may see. A new member is hidden until it is added here. */
const EVIDENCE: Readonly<Record<Check['name'], readonly string[]>> = {
  health: ['httpStatus', 'latencyMs'],
  dns: ['by', 'types', 'at', 'wildcardTypes', 'emptyNonTerminal'],
  certificate: ['source', 'names', 'notAfter', 'fingerprint', 'reason', 'record', 'retryAfter'],
  proxy: ['by'],
}

export function publicCheck(check: Check): Check {
  const { name, status, detail, ...evidence } = check
  // Only internal callers see why a backend is unhealthy. Otherwise a plan could be used as a port scanner.
  if (isUnhealthy(check)) return { name, status, detail: publicDetail(check) }
  const shown = Object.entries(evidence).filter(([member]) => EVIDENCE[name].includes(member))
  return { name, status, detail: publicDetail(check), ...Object.fromEntries(shown) }
}

/** Whether a check found that the backend is unhealthy. For a maintenance page that is only a warning. */
export const isUnhealthy = ({ name, status }: Check): boolean =>
  name === 'health' && (status === 'failed' || status === 'warning')

/** The public sentence by reason. A sentence about CAA records is not replaced, because DNS is public. */
const NO_CERTIFICATE: Readonly<Record<string, string>> = {
  caa_unknown: 'DNS could not tell whether the CAA records of the name permit a certificate.',
  directory_unavailable: 'The certificate authority is not available.',
  budget: 'No more certificates can be ordered at the moment.',
}

const UNHEALTHY = 'The backend did not answer HTTP 2xx on its health path.'

function publicDetail(check: Check): string {
  const { name, status, detail, source, names, reason, by } = check
  if (isUnhealthy(check)) return status === 'failed' ? UNHEALTHY : `${UNHEALTHY} ${NOT_NEEDED}`
  if (name === 'dns' && status === 'failed' && by === undefined)
    return 'DNS could not tell whether the name is free: the DNS server gave no reliable answer.'
  if (name === 'proxy' && status === 'failed') return by === 'server_block' ? TAKEN_BY_PROXY : BROKEN_PROXY
  if (name === 'proxy' && by === 'preparation') return UNPREPARED_PROXY
  if (name === 'certificate' && status === 'failed') return NO_CERTIFICATE[String(reason)] ?? detail
  if (name === 'certificate' && source === 'acme')
    return `No installed certificate covers the name. A new one for ${[names].flat().join(', ')} can be issued.`
  return detail
}

/** The members of a change that public callers may see. A new member is hidden until it is added here. */
const CHANGES: Readonly<Record<Change['kind'], readonly string[]>> = {
  certificate: ['names', 'notAfter'],
  proxy: ['serverName', 'https'],
  dns: ['name', 'type', 'ttl', 'value'],
}

export const publicChange = ({ kind, action, ...members }: Change): Pick<Change, 'kind' | 'action'> => ({
  kind,
  action,
  ...Object.fromEntries(Object.entries(members).filter(([member]) => CHANGES[kind].includes(member))),
})

/** What whoever knows the id of a plan may see of its request: neither access lists nor labels nor the id of another plan. */
export const publicRequest = ({
  zone,
  subdomain,
  server,
  port,
  health,
  tls,
  expiresIn,
}: ExposureRequest): ExposureRequest => ({
  ...{ zone, subdomain, server, port, health, tls },
  ...(expiresIn !== undefined && { expiresIn }),
})

/** The detail of a step can name keys, files and addresses, so public callers do not see it. */
export const publicStep = <T extends { readonly detail?: string }>({ detail: _inside, ...step }: T) => step

/** Refusals whose detail comes from a step. Public callers see the title instead. */
const DETAIL_OF_STEP: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'apply_failed',
  'remove_failed',
  'repair_failed',
  'accept_failed',
  'renew_failed',
  'changed_elsewhere',
  'rollback_blocked',
  'proxy_config_broken',
  'proxy_name_taken',
  'dns_unavailable',
  'certificate_unavailable',
])

export function publicProblem(problem: Problem): Problem {
  const { code, message, members } = problem
  const { checks, steps, rollback, holder: _who, edgeSays: _words, nextAction, ...others } = members
  const shown = (checks as readonly Check[] | undefined)?.map(publicCheck)
  const failed = shown?.find(({ status }) => status === 'failed')
  const detail = failed?.detail ?? (DETAIL_OF_STEP.has(code) ? `${ERRORS[code].title}.` : message)
  return new Problem(code, detail, {
    ...others,
    // That of a name that is exposed is for callers who may send `replaces`.
    ...(nextAction !== undefined && code !== 'dns_name_taken' && { nextAction }),
    ...(shown && { checks: shown }),
    ...withoutDetails({ steps, rollback }),
  })
}

type Steps = readonly { readonly detail?: string }[]

function withoutDetails(lists: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(lists).filter(([, list]) => list !== undefined)
  return Object.fromEntries(given.map(([name, list]) => [name, (list as Steps).map(publicStep)]))
}
