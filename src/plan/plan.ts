import { createHash } from 'node:crypto'
import { type ErrorCode, Problem } from '../model/errors.ts'
import type { Change } from '../model/exposure.ts'
import type { CertificateFact, Check, Observation } from '../model/finding.ts'
import { judge } from './checks.ts'
import type { Desired } from './desire.ts'
import type { PlanSettings } from './settings.ts'

/** The ordered changes an apply would make, and a digest that says "exactly this". */
export interface Proposal {
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
  readonly digest: string
}

/** Desired and observed in, a proposal out, or a refusal whose first failing check gives the code. */
export function propose(desired: Desired, observed: Observation, settings: PlanSettings): Proposal {
  const verdicts = judge(observed, desired.request.server)
  const checks = verdicts.map(({ check }) => check)
  const failed = verdicts.findIndex(({ code }) => code !== undefined)
  const [code, check] = [verdicts[failed]?.code, checks[failed]]
  if (code && check) throw new FailedCheck(code, check, checks)
  const changes = changesFor(desired, observed.certificate, settings)
  return { checks, changes, digest: digestOf(desired, changes) }
}

/** The refusal of a plan by the first of its checks that failed. */
class FailedCheck extends Problem {
  readonly #name: Check['name']

  constructor(code: ErrorCode, check: Check, checks: readonly Check[]) {
    super(code, check.detail, { checks, ...told(check) })
    this.#name = check.name
  }

  override get sentence(): string {
    return `The ${this.#name} check failed: ${this.message}`
  }
}

/** What of a failed check's evidence stands in the refusal itself, too. */
const told = (check: Check) => ({
  ...(check.types !== undefined && { types: check.types }),
  ...(typeof check.retryAfter === 'number' && {
    retryAfter: check.retryAfter,
    nextAction: 'Wait for the seconds given in retryAfter and try again, or plan with tls: false.',
  }),
})

/** Stands in the changes until the plan has its id; so the digest is of what is asked, not of when. */
const OWNER_MARK = 'drawbridge'

/** The owner mark names the plan whose exposure the record belongs to. */
export const withOwner = (changes: readonly Change[], planId: string): Change[] =>
  changes.map((change) =>
    change.kind === 'dns' && change.type === 'TXT' ? { ...change, value: `${OWNER_MARK} ${planId}` } : change,
  )

/** What differs between the changes that were reviewed and those that would be made now, in words; a certificate that need not be issued any more is no harm. */
export function moved(reviewed: readonly Change[], now: readonly Change[]): string[] {
  const words: string[] = []
  const find = <K extends Change['kind']>(changes: readonly Change[], kind: K) =>
    changes.filter((change): change is Extract<Change, { kind: K }> => change.kind === kind)
  const [before, after] = [find(reviewed, 'certificate')[0], find(now, 'certificate')[0]]
  if (before?.action !== after?.action && after?.action !== 'reuse')
    words.push('the certificate that was to be used is gone')
  if (find(reviewed, 'proxy')[0]?.target !== find(now, 'proxy')[0]?.target) words.push("the backend's address")
  const records = (changes: readonly Change[]) =>
    find(changes, 'dns')
      .map(({ name, type, ttl, value }) => `${name} ${ttl} ${type} ${type === 'TXT' ? '' : value}`)
      .join()
  if (records(reviewed) !== records(now)) words.push('the DNS records that would be made')
  return words
}

/** Certificate, then proxy, then DNS: the name comes last, so that it never points at an edge that does not serve it. */
function changesFor(
  { host, request, backend }: Desired,
  certificate: CertificateFact,
  settings: PlanSettings,
): Change[] {
  const { address, port } = backend
  const target = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  const { ttl, publish } = settings.zones.get(request.zone) ?? { ttl: 0, publish: [] }
  const create = { kind: 'dns', action: 'create', ttl } as const
  return [
    ...certificateChange(certificate),
    { kind: 'proxy', action: 'create', serverName: host, target, https: request.tls },
    ...publish.map(({ type, value }) => ({ ...create, name: host, type, value })),
    { ...create, name: `_drawbridge.${host}`, type: 'TXT', value: OWNER_MARK },
  ]
}

function certificateChange(fact: CertificateFact): Change[] {
  if (fact.kind === 'installed') {
    return [{ kind: 'certificate', action: 'reuse', names: fact.names, notAfter: fact.notAfter }]
  }
  return fact.kind === 'issuable'
    ? [{ kind: 'certificate', action: 'issue', names: fact.names, directory: fact.directory }]
    : []
}

/** Covers what was asked and what would be done: whoever applies the digest applies exactly what was reviewed. */
function digestOf({ host, request, backend }: Desired, changes: readonly Change[]): string {
  return `sha256:${createHash('sha256').update(canonicalJson({ host, request, backend, changes })).digest('hex')}`
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
