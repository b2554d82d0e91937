import { createHash } from 'node:crypto'
import { type Endpoint, formatEndpoint } from '../model/address.ts'
import { type ErrorCode, Problem } from '../model/errors.ts'
import type { CertificateChange, Change, Plan } from '../model/exposure.ts'
import type { CertificateFact, Check, Observation } from '../model/finding.ts'
import { markText } from '../model/receipt.ts'
import type { StepName } from '../model/run.ts'
import { judge } from './checks.ts'
import type { Desired } from './desired.ts'
import type { PlanSettings } from './settings.ts'
import { stepsToApply, stepsToUpdate } from './steps.ts'

/** What an apply would change, its steps in order, and a digest that covers both. */
export interface Proposal {
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
  readonly steps: readonly StepName[]
  readonly digest: string
}

/** The applied plan whose place a plan takes. */
export interface Former {
  readonly plan: Plan
  readonly expiresAt?: number | undefined
}

/** Desired and observed in, a proposal out, or a refusal whose first failing check gives the code. */
export function propose(desired: Desired, observed: Observation, settings: PlanSettings, former?: Former): Proposal {
  const verdicts = judge(observed, desired.request, settings.challenge)
  const checks = verdicts.map(({ check }) => check)
  const failed = verdicts.findIndex(({ code }) => code !== undefined)
  const [code, check] = [verdicts[failed]?.code, checks[failed]]
  if (code && check) throw new FailedCheck(code, check, checks)
  const { tls } = desired.request
  const changes = changesFor(desired, observed, settings, former)
  const steps = former ? stepsToUpdate(tls) : stepsToApply(tls, changes, settings.challenge)
  return { checks, changes, steps, digest: digestOf(desired, changes, steps) }
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
  ...(check.planId !== undefined && { holder: { planId: check.planId } }),
  ...(check.by === 'exposure' && {
    nextAction: 'Choose another subdomain. To change your own exposure, send the id of its applied plan as replaces.',
  }),
  ...(typeof check.retryAfter === 'number' && {
    retryAfter: check.retryAfter,
    nextAction: 'Wait for the number of seconds in retryAfter and try again, or plan with tls: false.',
  }),
})

/** The owner mark before the exposure has an id. The digest covers this text, so equal requests have equal digests. */
const OWNER_MARK = 'drawbridge'

/** Completes the owner mark with the id of the exposure that owns the records. */
export const withMark = (changes: readonly Change[], exposureId: string): Change[] =>
  changes.map((change) =>
    change.kind === 'dns' && change.type === 'TXT' ? { ...change, value: markText(exposureId) } : change,
  )

/**
 * What differs between the plan that was reviewed and what would be done now, in words. Empty if the digests are equal. A
 * certificate that need not be ordered any more is no difference: the certificate step uses the installed one.
 */
export function changedSince(reviewed: Plan, now: Proposal): string[] {
  if (reviewed.digest === now.digest) return []
  const words: string[] = []
  const find = <K extends Change['kind']>(changes: readonly Change[], kind: K) =>
    changes.filter((change): change is Extract<Change, { kind: K }> => change.kind === kind)
  const [before, after] = [find(reviewed.changes, 'certificate')[0], find(now.changes, 'certificate')[0]]
  if (after?.action === 'issue') words.push(...changedOrder(before, after))
  // Only an order depends on where the certificate step stands.
  const ordersTwice = before?.action === 'issue' && after?.action === 'issue'
  if (ordersTwice && reviewed.steps.join() !== now.steps.join()) words.push('the order of the steps')
  const [proxyBefore, proxyAfter] = [find(reviewed.changes, 'proxy')[0], find(now.changes, 'proxy')[0]]
  const addresses = (proxy: typeof proxyBefore) => [proxy?.target, ...(proxy?.furtherTargets ?? [])].join()
  if (addresses(proxyBefore) !== addresses(proxyAfter)) words.push("the backend's address")
  if (proxyBefore?.action !== proxyAfter?.action) words.push('whether the host is exposed')
  const records = (changes: readonly Change[]) =>
    find(changes, 'dns')
      .map(({ name, type, ttl, value }) => `${name} ${ttl} ${type} ${type === 'TXT' ? '' : value}`)
      .join()
  if (records(reviewed.changes) !== records(now.changes)) words.push('the DNS records to create')
  return words
}

function changedOrder(before: CertificateChange | undefined, after: CertificateChange): string[] {
  if (before?.action !== 'issue') return ['the certificate, which is no longer installed']
  return [
    ...(before.names.join() === after.names.join() ? [] : ['the names of the certificate to order']),
    ...(before.directory === after.directory ? [] : ['the certificate authority']),
  ]
}

/** Certificate, then proxy, then DNS: the name comes last, so that it never points at an edge that does not serve it. */
function changesFor(
  { host, request, backend, furtherBackends, entryOptions }: Desired,
  { certificate, name }: Pick<Observation, 'certificate' | 'name'>,
  settings: PlanSettings,
  former: Former | undefined,
): Change[] {
  const scheme = entryOptions?.backendTls ? 'https' : 'http'
  const targetOf = (endpoint: Endpoint) => `${scheme}://${formatEndpoint(endpoint)}`
  const served = {
    serverName: host,
    target: targetOf(backend),
    https: request.tls,
    ...(furtherBackends && { furtherTargets: furtherBackends.map(targetOf) }),
    ...(entryOptions && { options: entryOptions }),
  }
  const { ttl, publish } = settings.zones.get(request.zone) ?? { ttl: 0, publish: [] }
  const create = { kind: 'dns', action: 'create', ttl } as const
  if (former) {
    // The certificate in use stays unless another one is ordered or the host had none.
    const getsCertificate = certificate.kind === 'issuable' || !former.plan.request.tls
    return [...(getsCertificate ? certificateChange(certificate) : []), { kind: 'proxy', action: 'update', ...served }]
  }
  return [
    ...certificateChange(certificate),
    { kind: 'proxy', action: request.adopt ? 'adopt' : 'create', ...served },
    ...(name.kind === 'held'
      ? name.records.map((record) => ({ kind: 'dns' as const, action: 'keep' as const, ...record }))
      : publish.map(({ type, value }) => ({ ...create, name: host, type, value }))),
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

/** Covers the request and what would be done: whoever applies the digest applies exactly what was reviewed. */
function digestOf({ host, request, backend }: Desired, changes: readonly Change[], steps: readonly StepName[]): string {
  // An installed certificate may be renewed before the apply: its end is shown and not part of what is reviewed.
  const reviewed = changes.map((change) =>
    change.kind === 'certificate' ? { ...change, notAfter: undefined } : change,
  )
  const content = { host, request, backend, changes: reviewed, steps }
  return `sha256:${createHash('sha256').update(canonicalJson(content)).digest('hex')}`
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
