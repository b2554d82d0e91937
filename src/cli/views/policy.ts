import type { Screen } from '../../terminal/screen.ts'
import { pairs, span } from '../../terminal/text.ts'

export interface PolicyView {
  readonly flow: string
  readonly servers: { readonly targets: readonly string[]; readonly primary: string; readonly secondary: string | null }
  readonly zones: readonly string[]
  readonly internalNetworks: readonly string[]
  readonly plan: { readonly ttlSeconds: number }
  readonly ports: { readonly allowed: readonly (readonly number[])[]; readonly denied: readonly number[] }
  readonly caller: { readonly network: string; readonly may: readonly string[] }
  readonly apply: { readonly possible: boolean; readonly reasons: readonly string[] }
  readonly version: string
}

export function policyLines(policy: PolicyView, url: string, screen: Screen): string[] {
  const { caller, servers, ports } = policy
  const ranges = ports.allowed.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ')
  return pairs(
    [
      ['service', `Drawbridge ${policy.version} at ${url}, ${policy.flow} flow`],
      ['you', `call from the ${caller.network} network and may ${caller.may.join(', ')}`],
      ['zones', policy.zones.join(', ') || 'none'],
      [
        'servers',
        `${servers.targets.join(', ')}; the Primary is ${servers.primary}, the Secondary ${servers.secondary ?? 'none'}`,
      ],
      ['ports', `${ranges}${ports.denied.length > 0 ? `, but not ${ports.denied.join(', ')}` : ''}`],
      ['internal', policy.internalNetworks.join(', ') || 'none'],
      [
        'plans',
        policy.apply.possible
          ? `can be applied for ${span(policy.plan.ttlSeconds * 1000)}`
          : `cannot be applied here. ${policy.apply.reasons.join(' ')}`,
      ],
    ],
    screen.columns,
  )
}
