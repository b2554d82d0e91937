import { createHash } from 'node:crypto'
import type { Change } from '../model/change.ts'
import { Problem } from '../model/errors.ts'
import type { CertificateFact, Check, Observation } from '../model/finding.ts'
import { judge, publicHealthCheck } from './checks.ts'
import type { Desired } from './desire.ts'
import type { PlanSettings } from './settings.ts'

/** The ordered changes an apply would make, and a digest that says "exactly this". */
export interface Proposal {
  readonly checks: readonly Check[]
  readonly changes: readonly Change[]
  readonly digest: string
}

/** Desired and observed in, a proposal out, or a refusal whose first failing check gives the code. */
export function propose(
  desired: Desired,
  observed: Observation,
  settings: PlanSettings,
  audience: 'internal' | 'public',
): Proposal {
  const verdicts = judge(observed, desired.request.server)
  const checks = verdicts.map(({ check }) =>
    check.name === 'health' && check.status === 'failed' && audience === 'public'
      ? publicHealthCheck(desired.request.server)
      : check,
  )
  const failed = verdicts.findIndex(({ code }) => code !== undefined)
  const code = verdicts[failed]?.code
  if (code) throw new Problem(code, checks[failed]?.detail ?? '', { checks, ...takenTypes(checks[failed]) })
  const changes = changesFor(desired, observed.certificate, settings)
  return { checks, changes, digest: digestOf(desired, changes) }
}

const takenTypes = (check: Check | undefined) => (check?.types === undefined ? {} : { types: check.types })

/** Certificate, then proxy, then DNS: the name comes last, so that it never points at an edge that does not serve it. */
function changesFor(
  { host, request, backend }: Desired,
  certificate: CertificateFact,
  settings: PlanSettings,
): Change[] {
  const { address, port } = backend
  const target = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  const ttl = settings.zones.get(request.zone)?.ttl ?? 0
  const type = settings.edgeAddress.includes(':') ? 'AAAA' : 'A'
  return [
    ...certificateChange(host, certificate),
    { kind: 'proxy', action: 'create', serverName: host, target, https: request.tls },
    { kind: 'dns', action: 'create', name: host, type, ttl, value: settings.edgeAddress },
    { kind: 'dns', action: 'create', name: `_drawbridge.${host}`, type: 'TXT', ttl, value: 'owner mark' },
  ]
}

function certificateChange(host: string, fact: CertificateFact): Change[] {
  if (fact.kind === 'installed') {
    return [{ kind: 'certificate', action: 'reuse', names: fact.names, notAfter: fact.notAfter }]
  }
  return fact.kind === 'issuable'
    ? [{ kind: 'certificate', action: 'issue', names: [host], directory: fact.directory }]
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
