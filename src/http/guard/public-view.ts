import { ERRORS, type ErrorCode, Problem } from '../../model/errors.ts'
import type { Change } from '../../model/exposure.ts'
import type { Check } from '../../model/finding.ts'
import { BROKEN_PROXY, TAKEN_BY_PROXY } from '../../plan/checks.ts'
import type { EdgeVerdict, Verification } from '../../runs/steps/verify.ts'
import type { ProgressEvent } from '../../usecases/progress.ts'

/**
 * What callers of the public network are told of plans, runs and refusals: what was asked for, how each check and step
 * went, and nothing of the inside: no DNS server, resolver, key, file, line, directory or raw error.
 */

/** The members of a check's evidence that are nobody's secret. Whatever is new stays inside until it stands here. */
const EVIDENCE: Readonly<Record<Check['name'], readonly string[]>> = {
  health: ['httpStatus', 'latencyMs'],
  dns: ['by', 'types', 'at', 'wildcardTypes', 'emptyNonTerminal'],
  certificate: ['source', 'names', 'notAfter', 'fingerprint', 'reason', 'record', 'retryAfter'],
  proxy: ['by'],
}

export function publicCheck(check: Check): Check {
  const { name, status, detail, ...evidence } = check
  // Why a backend is unhealthy is for callers inside: planning is no port scanner.
  if (name === 'health' && status === 'failed') return { name, status, detail: publicDetail(check) }
  const shown = Object.entries(evidence).filter(([member]) => EVIDENCE[name].includes(member))
  return { name, status, detail: publicDetail(check), ...Object.fromEntries(shown) }
}

/** Why no certificate can be had, by its reason; a sentence about CAA records tells only what DNS tells everybody. */
const NO_CERTIFICATE: Readonly<Record<string, string>> = {
  caa_unknown: 'Whether the CAA records of the name allow a certificate is not certain.',
  directory_unavailable: 'The certificate authority is not available.',
  budget: 'No more certificates can be ordered for now.',
}

function publicDetail({ name, status, detail, source, names, reason, types, by }: Check): string {
  if (name === 'health' && status === 'failed') return 'The backend gave no HTTP 2xx on its health path.'
  if (name === 'dns' && status === 'failed' && types === undefined)
    return 'Whether the name is free is not certain: the DNS server gave no answer to rely on.'
  if (name === 'proxy' && status === 'failed') return by === 'server_block' ? TAKEN_BY_PROXY : BROKEN_PROXY
  if (name === 'certificate' && status === 'failed') return NO_CERTIFICATE[String(reason)] ?? detail
  if (name === 'certificate' && source === 'acme')
    return `No installed certificate covers the name; a new one for ${[names].flat().join(', ')} can be issued.`
  return detail
}

export const publicChange = (change: Change): Change => {
  if (change.kind !== 'certificate') return change
  const { directory: _inside, ...shown } = change
  return shown
}

/** A step's detail is the fault as it was met: it may name keys, files and addresses. */
export const publicStep = <T extends { readonly detail?: string }>({ detail: _inside, ...step }: T) => step

export function publicEvent({ verification, ...event }: ProgressEvent): ProgressEvent {
  return { ...publicStep(event), ...(verification && { verification: publicVerification(verification) }) }
}

const publicVerification = ({ primary, secondary }: Verification): Verification => ({
  primary: publicVerdict(primary),
  secondary: secondary && { ...publicVerdict(secondary), optional: true },
})

const publicVerdict = ({ server, ok, httpStatus, latencyMs }: EdgeVerdict): EdgeVerdict => ({
  server,
  ok,
  detail: ok ? 'The host answers through the edge.' : 'The host does not answer through the edge.',
  ...(httpStatus !== undefined && { httpStatus }),
  ...(latencyMs !== undefined && { latencyMs }),
})

/** Refusals whose sentence is the fault of a step. */
const OF_STEPS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'apply_failed',
  'remove_failed',
  'rollback_blocked',
  'proxy_config_broken',
  'proxy_name_taken',
  'dns_unavailable',
  'certificate_unavailable',
])

export function publicProblem(problem: Problem): Problem {
  const { code, message, members } = problem
  const { checks, steps, rollback, ...others } = members
  const shown = (checks as readonly Check[] | undefined)?.map(publicCheck)
  const failed = shown?.find(({ status }) => status === 'failed')
  const detail = failed?.detail ?? (OF_STEPS.has(code) ? `${ERRORS[code].title}.` : message)
  return new Problem(code, detail, {
    ...others,
    ...(shown && { checks: shown }),
    ...withoutDetails({ steps, rollback }),
  })
}

type Steps = readonly { readonly detail?: string }[]

function withoutDetails(lists: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(lists).filter(([, list]) => list !== undefined)
  return Object.fromEntries(given.map(([name, list]) => [name, (list as Steps).map(publicStep)]))
}
