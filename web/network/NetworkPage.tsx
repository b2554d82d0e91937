import { useMemo } from 'react'
import { type HostRow, useHosts } from '../api/hosts.ts'
import type { Policy } from '../api/policy.ts'
import badges from '../parts/Badge.module.css'
import { BadgeShape } from '../parts/Badge.tsx'
import { badgeKind, severity } from '../parts/badge-kind.ts'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Link } from '../shell/Link.tsx'
import { Page } from '../shell/Page.tsx'
import styles from './NetworkPage.module.css'

/** Names of one server beyond this number are counted, not drawn. */
const MOST_NAMES = 40

/** Which names go through the edges to which servers. The picture is a nested list, so that it can be heard, too. */
export function NetworkPage({ policy }: { readonly policy: Policy }) {
  const hosts = useHosts()
  const rows = hosts.data?.rows
  const servers = useMemo(() => byServer(rows ?? []), [rows])
  const { primary, secondary } = policy.servers
  const edgeOf = (server: string) => hosts.data?.edges.find((edge) => edge.server === server)
  return (
    <Page title="Network" lead="Names on the left go through the edges in the middle to the servers on the right.">
      {hosts.isPending && <Skeleton lines={8} what="the network" />}
      <ul className={styles.picture} aria-label="Servers behind the edges">
        {servers.map(([server, names]) => (
          <li key={server} className={styles.flow}>
            <ul className={styles.names} aria-label={`Names on server ${server}`}>
              {names.slice(0, MOST_NAMES).map(({ host, badge, port }) => (
                <li key={host} className={styles.name}>
                  <span className={`${styles.shape} ${badges[badgeKind(badge)]}`}>
                    <BadgeShape kind={badgeKind(badge)} />
                  </span>
                  <Link to={`/hosts/${host}/details`}>{host}</Link>
                  {port !== undefined && <span className={styles.port}>→ {port}</span>}
                  <span className="off-screen">: {badge}</span>
                </li>
              ))}
              {names.length > MOST_NAMES && (
                <li className={styles.name}>
                  <Link to={`/?server=${encodeURIComponent(server)}`}>and {names.length - MOST_NAMES} more</Link>
                </li>
              )}
            </ul>
            <div className={styles.edges}>
              <Edge name="Primary" server={primary} isBehind={edgeOf(primary)?.inStep === false} />
              {secondary && <Edge name="Secondary" server={secondary} isBehind={edgeOf(secondary)?.inStep === false} />}
            </div>
            <div className={styles.server}>
              <strong>{server === 'none' ? 'No backend' : `Server ${server}`}</strong>
              <span>{counted(names.length)}</span>
              <ul className={styles.ports} aria-label={`Ports of server ${server}`}>
                {portsOf(names).map(([port, count]) => (
                  <li key={port}>
                    Port {port}: {counted(count)}
                  </li>
                ))}
              </ul>
            </div>
          </li>
        ))}
      </ul>
    </Page>
  )
}

const counted = (count: number): string => `${count} ${count === 1 ? 'name' : 'names'}`

/** The ports of a server and how many names lead to each. Callers outside see none. */
function portsOf(names: readonly HostRow[]): readonly (readonly [number, number])[] {
  const ports = new Map<number, number>()
  for (const { port } of names) if (port !== undefined) ports.set(port, (ports.get(port) ?? 0) + 1)
  return [...ports].sort(([a], [b]) => a - b)
}

function Edge({
  name,
  server,
  isBehind,
}: {
  readonly name: string
  readonly server: string
  readonly isBehind: boolean
}) {
  return (
    <div className={styles.edge} data-behind={isBehind}>
      {name} {server}
      {isBehind && <strong> not in step</strong>}
    </div>
  )
}

function byServer(rows: readonly HostRow[]): readonly (readonly [string, readonly HostRow[]])[] {
  const servers = new Map<string, HostRow[]>()
  for (const row of rows) {
    const server = row.server ?? 'none'
    const names = servers.get(server)
    if (names) names.push(row)
    else servers.set(server, [row])
  }
  return [...servers]
    .map(([server, names]) => {
      const worstFirst = names.toSorted((a, b) => severity(a.badge) - severity(b.badge) || a.host.localeCompare(b.host))
      return [server, worstFirst] as const
    })
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
}
