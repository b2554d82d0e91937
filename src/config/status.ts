import { type StaticDecode, Type } from 'typebox'
import type { StatusRanges } from '../model/badge.ts'
import { parseName } from '../model/dns-name.ts'
import type { ConfigDocument } from './document.ts'
import * as value from './values.ts'

/** Who sees the hosts of the edge's configuration that Drawbridge did not create, and how each of them is asked. */
export interface StatusSetting {
  readonly showUnmanaged: 'internal' | 'public'
  readonly hosts: ReadonlyMap<string, ForeignHostRule>
}

/** What differs for one host that Drawbridge did not create. An undefined member: as for every such host. */
interface ForeignHostRule {
  /** The path that checks request. */
  readonly path?: string | undefined
  /** The statuses that are good. */
  readonly good?: StatusRanges | undefined
  readonly visibility?: 'internal' | 'public' | undefined
}

/** The characters of the health path of a plan. */
const PATH = /^\/(?!\/)[!$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]{0,1023}$/

const healthPath = value.parsed((text) => (PATH.test(text) ? text : undefined), {
  allowed: 'a path such as /healthz, with a query if needed',
})

export const statusSchema = Type.Object({
  showUnmanaged: value.oneOf(['internal', 'public'], 'internal'),
  hosts: Type.Record(
    Type.String(),
    Type.Object({
      path: Type.Optional(healthPath),
      good: Type.Optional(Type.Array(value.statusRange)),
      visibility: Type.Optional(value.oneOf(['internal', 'public'])),
    }),
    { default: {} },
  ),
})

export function readStatus(
  { showUnmanaged, hosts }: StaticDecode<typeof statusSchema>,
  document: ConfigDocument,
): StatusSetting {
  const found = new Map<string, ForeignHostRule>()
  for (const [key, rule] of Object.entries(hosts)) {
    const host = parseName(key)
    if (!host || found.has(host))
      document.refuse(['status', 'hosts', key], 'is not valid. Allowed: each host once, by its name.')
    if (rule.good?.length === 0)
      document.refuse(['status', 'hosts', key, 'good'], 'is empty. Allowed: statuses such as 200 or 200-399.')
    found.set(host ?? key, rule)
  }
  return { showUnmanaged, hosts: found }
}

/** Whether public callers see a host that Drawbridge did not create. */
export const isPublic = ({ showUnmanaged, hosts }: StatusSetting, host: string): boolean =>
  (hosts.get(host)?.visibility ?? showUnmanaged) === 'public'
