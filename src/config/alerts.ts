import { type StaticDecode, Type } from 'typebox'
import { parseName } from '../model/dns-name.ts'
import type { AlertRule, Mute } from '../model/host-status.ts'
import type { ConfigDocument } from './document.ts'
import * as value from './values.ts'

/** When the trouble of hosts becomes an alert. */
export interface Alerts {
  readonly afterSeconds: number
  readonly hosts: ReadonlyMap<string, { readonly afterSeconds?: number | undefined; readonly muted: boolean }>
}

const LONGEST_SECONDS = 86_400

export const alertsSchema = Type.Object({
  afterSeconds: value.seconds(0, LONGEST_SECONDS, 120),
  hosts: Type.Record(
    Type.String(),
    Type.Object({
      afterSeconds: Type.Optional(value.seconds(0, LONGEST_SECONDS)),
      muted: value.truth(false),
    }),
    { default: {} },
  ),
})

export function readAlerts(
  { afterSeconds, hosts }: StaticDecode<typeof alertsSchema>,
  document: ConfigDocument,
): Alerts {
  const found = new Map<string, { afterSeconds?: number | undefined; muted: boolean }>()
  for (const [key, rule] of Object.entries(hosts)) {
    const host = parseName(key)
    if (!host || found.has(host))
      document.refuse(['alerts', 'hosts', key], 'is not valid. Allowed: each host once, by its name.')
    found.set(host ?? key, { afterSeconds: rule.afterSeconds, muted: rule.muted })
  }
  return { afterSeconds, hosts: found }
}

export function alertRuleOf({ afterSeconds, hosts }: Alerts, host: string): AlertRule {
  const own = hosts.get(host)
  return { afterMs: (own?.afterSeconds ?? afterSeconds) * 1000, isMuted: own?.muted ?? false }
}

export const configuredMutes = ({ hosts }: Alerts): ReadonlyMap<string, Mute> =>
  new Map(
    [...hosts].flatMap(([host, { muted }]): [string, Mute][] =>
      muted ? [[host, { since: null, until: null, by: 'configuration' }]] : [],
    ),
  )
