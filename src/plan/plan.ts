import { createHash } from 'node:crypto'
import { type ErrorCode, Problem } from '../model/errors.ts'
import type { Change } from '../model/exposure.ts'
import type { CertificateFact, Check, Observation } from '../model/finding.ts'
import { judge } from './checks.ts'
import type { Desired } from './desired.ts'
import type { PlanSettings } from './settings.ts'

/** The ordered changes of an apply, and a digest that identifies exactly these changes. */
export interface Proposal {
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
  readonly digest: string
}

/** Compares the desired and the observed state. Throws a Problem with the code of the first failed check. */
export function propose(desired: Desired, observed: Observation, settings: PlanSettings): Proposal {
  const verdicts = judge(observed, desired.request.server)
  const checks = verdicts.map(({ check }) => check)
  const failed = verdicts.findIndex(({ code }) => code !== undefined)
  const [code, check] = [verdicts[failed]?.code, checks[failed]]
  if (code && check) throw new FailedCheck(code, check, checks)
  const changes = changesFor(desired, observed.certificate, settings)
  return { checks, changes, digest: digestOf(desired, changes) }
}

/** The refusal of a plan because of its first failed check. */
class FailedCheck extends Problem {
  readonly #name: Check['name']

  constructor(code: ErrorCode, check: Check, checks: readonly Check[]) {
    super(code, check.detail, { checks, ...refusalMembers(check) })
    this.#name = check.name
  }

  override get sentence(): string {
    return `The ${this.#name} check failed: ${this.message}`
  }
}

/** The evidence of a failed check that the refusal repeats as members of its own. */
const refusalMembers = (check: Check) => ({
  ...(check.types !== undefined && { types: check.types }),
  ...(typeof check.retryAfter === 'number' && {
    retryAfter: check.retryAfter,
    nextAction: 'Wait for the number of seconds in retryAfter and try again, or plan with tls: false.',
  }),
})

/** The owner mark before the plan has an id. The digest covers this text, so equal requests have equal digests. */
const OWNER_MARK = 'drawbridge'

/** Completes the owner mark with the id of the plan that owns the records. */
export const withOwner = (changes: readonly Change[], planId: string): Change[] =>
  changes.map((change) =>
    change.kind === 'dns' && change.type === 'TXT' ? { ...change, value: `${OWNER_MARK} ${planId}` } : change,
  )

/** Describes how the changes differ from the reviewed ones. A certificate that no longer needs to be issued is not a difference. */
export function changedSince(reviewed: readonly Change[], now: readonly Change[]): string[] {
  const words: string[] = []
  const find = <K extends Change['kind']>(changes: readonly Change[], kind: K) =>
    changes.filter((change): change is Extract<Change, { kind: K }> => change.kind === kind)
  const [before, after] = [find(reviewed, 'certificate')[0], find(now, 'certificate')[0]]
  if (before?.action !== after?.action && after?.action !== 'reuse')
    words.push('the certificate, which is no longer installed')
  if (find(reviewed, 'proxy')[0]?.target !== find(now, 'proxy')[0]?.target) words.push("the backend's address")
  const records = (changes: readonly Change[]) =>
    find(changes, 'dns')
      .map(({ name, type, ttl, value }) => `${name} ${ttl} ${type} ${type === 'TXT' ? '' : value}`)
      .join()
  if (records(reviewed) !== records(now)) words.push('the DNS records to create')
  return words
}

/** Certificate, then proxy, then DNS. DNS is last, so that the name never points to an edge that does not serve it. */
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

/** Covers the request and the changes. An apply with the same digest makes exactly the reviewed changes. */
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
