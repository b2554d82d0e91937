import type { ErrorCode } from '../model/errors.ts'
import { escapeText } from '../model/escape-text.ts'
import type { ExposureRequest } from '../model/exposure.ts'
import type { CertificateFact, Check, HealthFact, NameFact, Observation, ProxyFact } from '../model/finding.ts'
import type { ChallengeKind } from './settings.ts'

/** A check, with the error code if the check failed. */
export interface Verdict {
  readonly check: Check
  readonly code?: ErrorCode
}

/** The four checks of a plan. The first failed check in this order decides the error code. */
export function judge(
  { health, name, certificate, proxy }: Observation,
  { server, options, adopt }: Pick<ExposureRequest, 'server' | 'options' | 'adopt'>,
  challenge: ChallengeKind,
): readonly Verdict[] {
  const healthVerdict = judgeHealth(health, server)
  return [
    options?.maintenance ? withoutBackend(healthVerdict) : healthVerdict,
    judgeName(name),
    certificate.kind === 'issuable' && adopt && challenge === 'http-01' ? NOT_BESIDE : judgeCertificate(certificate),
    judgeProxy(proxy),
  ]
}

/** The host would be served without TLS until the certificate is there. */
const NOT_BESIDE: Verdict = {
  code: 'certificate_unavailable',
  check: {
    name: 'certificate',
    status: 'failed',
    detail:
      'No installed certificate covers the name, and one that is ordered by http-01 comes too late for a site that is on the air. Add the folder of the certificate of the site to certificates.',
    reason: 'not_installed',
  },
}

/** During maintenance the edge does not ask the backend, which may be down for that very reason. */
const withoutBackend = ({ code, check }: Verdict): Verdict =>
  code === undefined ? { check } : { check: { ...check, status: 'warning', detail: `${check.detail} ${NOT_NEEDED}` } }

export const NOT_NEEDED = 'The maintenance page does not need it.'

const REASONS: Record<Extract<HealthFact, { kind: 'unhealthy' }>['reason'], string> = {
  refused: 'the connection was refused, so nothing listens on that port',
  unreachable: 'the server cannot be reached',
  timeout: 'it did not answer in time',
  not_http: 'the answer was not HTTP',
  status: 'it answered with another status',
}

function judgeHealth(fact: HealthFact, server: string): Verdict {
  if (fact.kind === 'healthy') {
    const { httpStatus, latencyMs } = fact
    const detail = `The backend on server ${server} answered HTTP ${httpStatus} on its health path.`
    return { check: { name: 'health', status: 'passed', detail, httpStatus, latencyMs } }
  }
  const why = fact.httpStatus === undefined ? REASONS[fact.reason] : `it answered HTTP ${fact.httpStatus}`
  const detail = `The backend on server ${server} did not answer HTTP 2xx on its health path: ${why}.`
  const { reason, httpStatus } = fact
  return {
    code: 'backend_unhealthy',
    check: { name: 'health', status: 'failed', detail, reason, ...(httpStatus !== undefined && { httpStatus }) },
  }
}

function judgeName(fact: NameFact): Verdict {
  if (fact.kind === 'unknown') {
    const detail = `DNS could not tell whether the name is free: ${fact.reason}.`
    return { code: 'dns_unavailable', check: { name: 'dns', status: 'failed', detail } }
  }
  if (fact.kind === 'taken') {
    const { by, types, at, planId } = fact
    const check = { name: 'dns', status: 'failed', detail: takenSentence(fact), by, types, at } as const
    return { code: 'dns_name_taken', check: planId === undefined ? check : { ...check, planId } }
  }
  if (fact.kind === 'kept') {
    const detail = 'The name has exactly the records of the exposure that is replaced.'
    return { check: { name: 'dns', status: 'passed', detail } }
  }
  if (fact.kind === 'changed') {
    const detail = 'The records of the name were changed outside Drawbridge since they were applied.'
    return { code: 'plan_stale', check: { name: 'dns', status: 'failed', detail, by: 'change' } }
  }
  if (fact.kind === 'held') {
    const types = [...new Set(fact.records.map(({ type }) => type))]
    const detail = `The name has records (${types.join(', ') || 'none that lead to a server'}). They stay as they are, also when the exposure is removed.`
    return { check: { name: 'dns', status: 'passed', detail, by: 'adoption', types } }
  }
  const { wildcardTypes, emptyNonTerminal } = fact
  if (wildcardTypes.length > 0) {
    const detail = `The name has no records of its own, but a wildcard answers for it (${wildcardTypes.join(', ')}). The new record will replace the wildcard's answer.`
    return { check: { name: 'dns', status: 'warning', detail, wildcardTypes } }
  }
  const detail = emptyNonTerminal ? 'The name is free. There are names below it.' : 'The name is free.'
  return { check: { name: 'dns', status: 'passed', detail, emptyNonTerminal } }
}

function takenSentence({ by, types, at }: Extract<NameFact, { kind: 'taken' }>): string {
  switch (by) {
    case 'record':
      return `${at} already has ${types.join(', ')} records.`
    case 'delegation':
      return `${at} is delegated to other name servers.`
    case 'dname':
      return `${at} has a DNAME record that redirects every name below it.`
    case 'owner_mark':
      return `${at} has the owner mark of an exposure that this installation does not know.`
    case 'exposure':
      return `${at} is already exposed.`
    case 'run':
      return `A run for ${at} is in progress.`
  }
}

function judgeCertificate(fact: CertificateFact): Verdict {
  const name = 'certificate'
  switch (fact.kind) {
    case 'not_required':
      return { check: { name, status: 'not_required', detail: 'HTTPS was not requested.' } }
    case 'installed': {
      const { names, wildcard, notAfter, fingerprint } = fact
      const detail = `An installed ${wildcard ? 'wildcard ' : ''}certificate covers the name until ${notAfter}.`
      return { check: { name, status: 'passed', detail, source: 'installed', names, notAfter, fingerprint } }
    }
    case 'issuable': {
      const { directory, names, caa, budget } = fact
      const detail = `No installed certificate covers the name. A new one for ${names.join(', ')} can be issued: ${caa}.`
      return { check: { name, status: 'passed', detail, source: 'acme', directory, names, budget } }
    }
    case 'unavailable': {
      const { kind: _, sentence: detail, ...evidence } = fact
      return { code: 'certificate_unavailable', check: { name, status: 'failed', detail, ...evidence } }
    }
  }
}

export const TAKEN_BY_PROXY = "Another server block of the edge's nginx already serves this name."
export const UNPREPARED_PROXY =
  'The edge is not ready, so this installation can only plan. An apply of this plan fails until the edge is ready.'
export const BROKEN_PROXY =
  "The edge's nginx cannot take another host with its current configuration. Nothing was changed."

function judgeProxy(fact: ProxyFact): Verdict {
  const name = 'proxy'
  switch (fact.kind) {
    case 'not_required':
      return { check: { name, status: 'not_required', detail: 'No edge is configured.' } }
    case 'unknown':
      return {
        check: { name, status: 'warning', detail: "The edge's nginx could not be asked about its configuration." },
      }
    case 'unprepared': {
      const detail = `${UNPREPARED_PROXY} Reason: ${escapeText(fact.reason)}`
      return { check: { name, status: 'warning', detail, by: 'preparation' } }
    }
    case 'free':
      return {
        check: {
          name,
          status: 'passed',
          detail: "The edge's configuration is valid, and no other server block serves the name.",
        },
      }
    case 'adopted': {
      const { carried, lost, changed } = fact
      const loss =
        lost.length === 0
          ? 'Nothing is lost.'
          : `Lost: ${[...new Set(lost.map(({ directive }) => directive))].join(', ')}.`
      const detail = `The hand-written site of the name is taken out of its file, and an entry of Drawbridge takes its place. ${loss}`
      const status = lost.length === 0 ? 'passed' : 'warning'
      return { check: { name, status, detail, by: 'adoption', carried, lost, changed } }
    }
    case 'moved': {
      const detail = 'The hand-written site was changed since the plan was made.'
      return { code: 'plan_stale', check: { name, status: 'failed', detail, by: 'adoption' } }
    }
    case 'taken': {
      const { how, line } = fact
      const file = escapeText(fact.file)
      const detail = `${TAKEN_BY_PROXY} The block is in ${file}, line ${line}.`
      return {
        code: 'proxy_name_taken',
        check: { name, status: 'failed', detail, by: 'server_block', how, file, line },
      }
    }
    case 'broken': {
      const { reason, line } = fact
      const file = fact.file === undefined ? undefined : escapeText(fact.file)
      const where = file === undefined ? '' : ` (${file}${line === undefined ? '' : `, line ${line}`})`
      const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) }
      const detail = `${BROKEN_PROXY} Reason: ${reason}${where}.`
      return { code: 'proxy_config_broken', check: { name, status: 'failed', detail, by: 'configuration', ...place } }
    }
  }
}
