import type { ProblemBody } from '../../src/client/index.ts'
import { ERRORS, type ErrorCode, type FieldError } from '../../src/model/errors.ts'
import type { Check } from '../../src/model/finding.ts'
import type { Draft, FieldErrors, FieldName } from './draft.ts'
import { pathOf } from './option-texts.ts'

/** The field to change when a check fails. */
const CAUSED_BY: Record<Check['name'], FieldName> = {
  health: 'health',
  dns: 'subdomain',
  certificate: 'tls',
  proxy: 'subdomain',
}

export const checksIn = (problem: ProblemBody): readonly Check[] => (problem.checks ?? []) as readonly Check[]

/** The message and the advice of a refusal for each field that caused it. */
export function refusedFields(problem: ProblemBody, draft: Draft): FieldErrors {
  const named = ((problem.errors ?? []) as readonly FieldError[])
    .filter(({ field }) => field in draft)
    .map(({ field, message }) => [field, /^[A-Z]/.test(message) ? message : `This ${message}.`])
  const options = Object.values(refusedOptions(problem))
  const failed = checksIn(problem)
    .filter((check) => check.status === 'failed' && !isOfConfiguration(check))
    .map((check) => [CAUSED_BY[check.name], `${check.detail} ${adviceFor(check, problem)}`])
  const sooner = problem.code === 'lease_not_longer' ? [['expiresIn', `${problem.detail} ${problem.nextAction}`]] : []
  const refused = options.length === 0 ? [] : [['options', options.join(' ')]]
  return Object.fromEntries([...named, ...refused, ...failed, ...sooner])
}

/** The messages about options, by the path of the option. */
export const refusedOptions = (problem: ProblemBody): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ((problem.errors ?? []) as readonly FieldError[])
      .filter(({ field }) => field.startsWith('options.'))
      .map(({ field, message }) => [pathOf(field), /^[A-Z]/.test(message) ? message : `This ${message}.`]),
  )

const LABELS: Partial<Record<FieldName, string>> = { health: 'Health path', subdomain: 'Subdomain', tls: 'HTTPS' }

/** The label of the field that says why a check failed. Undefined for a fault that no field causes. */
export const fieldOf = (check: Check): string | undefined =>
  isOfConfiguration(check) ? undefined : LABELS[CAUSED_BY[check.name]]

/** The advice of the problem is for its first failed check. The other checks get theirs from the table of errors. */
export function adviceFor(check: Check, problem: ProblemBody): string {
  const code = codeOf(check)
  if (check.by === 'exposure') return OWN_EXPOSURE
  return code === problem.code ? problem.nextAction : ERRORS[code].nextAction
}

const OWN_EXPOSURE = 'Choose another subdomain. To change your own exposure, press Change… on the page of its plan.'

function codeOf(check: Check): ErrorCode {
  if (check.name === 'health') return 'backend_unhealthy'
  if (check.name === 'certificate') return 'certificate_unavailable'
  if (check.name === 'proxy') return isOfConfiguration(check) ? 'proxy_config_broken' : 'proxy_name_taken'
  if (check.by === 'change') return 'plan_stale'
  return check.by === undefined ? 'dns_unavailable' : 'dns_name_taken'
}

/** A fault of the edge, which no field causes. */
const isOfConfiguration = ({ name, by }: Check): boolean => name === 'proxy' && by === 'configuration'
