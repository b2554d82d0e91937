import { useMemo } from 'react'
import { type HostRow, type Hosts, useHosts } from '../api/hosts.ts'
import type { Policy } from '../api/policy.ts'
import badges from '../parts/Badge.module.css'
import { BadgeShape } from '../parts/Badge.tsx'
import { badgeKind } from '../parts/badge-kind.ts'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { Link } from '../shell/Link.tsx'
import { Page } from '../shell/Page.tsx'
import { badgeCounts } from '../status/host-list.ts'
import styles from './NetworkPage.module.css'
import { namesToShow, portsOf, serversOf } from './network.ts'

/** Which names go through the edges to which servers. The picture is a nested list, so that it can be heard, too. */
export default function NetworkPage({ policy }: { readonly policy: Policy }) {
  const hosts = useHosts()
  const rows = hosts.data?.rows
  const servers = useMemo(() => serversOf(rows ?? []), [rows])
  return (
    <Page title="Network" lead="Names on the left go through the edges in the middle to the servers on the right.">
      {hosts.isPending && <Skeleton lines={8} what="the network" />}
      {hosts.error && !hosts.data && <Trouble fault={hosts.error} again={() => void hosts.refetch()} />}
      {hosts.data && (
        <div className={styles.picture}>
          <Edges policy={policy} edges={hosts.data.edges} rows={hosts.data.rows} />
          <ul className={styles.servers} aria-label="Servers behind the edges">
            {servers.map(([server, names]) => (
              <li key={server} className={styles.flow}>
                <Names server={server} names={names} />
                <Server server={server} names={names} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Page>
  )
}

interface GroupProps {
  readonly server: string
  readonly names: readonly HostRow[]
}

/** The names of a server, those in trouble first. Where there are many, only those and the number of the others. */
function Names({ server, names }: GroupProps) {
  const { shown, others } = namesToShow(names)
  return (
    <ul className={styles.names} aria-label={`Names on server ${server}`}>
      {shown.map(({ host, badge, port }) => (
        <li key={host} className={styles.name}>
          <Shape badge={badge} />
          <Link to={`/hosts/${host}/details`}>{host}</Link>
          {port !== undefined && <span className={styles.port}>→ {port}</span>}
          <span className="off-screen">: {badge}</span>
        </li>
      ))}
      {others > 0 && (
        <li className={styles.name}>
          <Link to={`/?server=${encodeURIComponent(server)}`}>
            {shown.length > 0 ? 'and ' : ''}
            {others.toLocaleString('en')} {shown.length > 0 ? 'more' : 'names'}
          </Link>
        </li>
      )}
    </ul>
  )
}

function Server({ server, names }: GroupProps) {
  const ports = portsOf(names)
  return (
    <div className={styles.server}>
      <strong>{server === 'none' ? 'No backend' : `Server ${server}`}</strong>
      <span>{counted(names.length)}</span>
      <ul className={styles.badges} aria-label={`Badges on server ${server}`}>
        {badgeCounts(names).map(([badge, count]) => (
          <li key={badge}>
            <Shape badge={badge} /> {badge} {count.toLocaleString('en')}
          </li>
        ))}
      </ul>
      {ports.length > 0 && (
        <ul className={styles.ports} aria-label={`Ports of server ${server}`}>
          {ports.map(([port, count]) => (
            <li key={port}>
              Port {port}: {counted(count)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Shape({ badge }: { readonly badge: string }) {
  return (
    <span className={`${styles.shape} ${badges[badgeKind(badge)]}`}>
      <BadgeShape kind={badgeKind(badge)} />
    </span>
  )
}

const counted = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'name' : 'names'}`

interface EdgesProps {
  readonly policy: Policy
  readonly edges: Hosts['edges']
  readonly rows: readonly HostRow[]
}

/** Each edge once, with what is not there as it was applied. */
function Edges({ policy: { servers, caller }, edges, rows }: EdgesProps) {
  const { primary, secondary } = servers
  const differing = rows.filter((row) => row.secondary === 'missing' || row.secondary === 'differs')
  const all = [
    { name: 'Primary', server: primary, hosts: rows.filter(({ badge }) => badge === 'DRIFT') },
    ...(secondary ? [{ name: 'Secondary', server: secondary, hosts: differing }] : []),
  ]
  return (
    <ul className={styles.edges} aria-label="Edges">
      {all.map(({ name, server, hosts }) => {
        const standing = edges.find((edge) => edge.server === server)
        const isBehind = standing?.inStep === false || hosts.length > 0
        return (
          <li key={server} className={styles.edge} data-behind={isBehind}>
            <strong>
              {name} {server}
            </strong>
            {caller.network === 'internal' && (
              <span>{standing?.outOfStep?.detail ?? (hosts.length === 0 ? 'in step' : differWords(hosts.length))}</span>
            )}
            {caller.network === 'internal' &&
              hosts.slice(0, MOST_DIFFERING).map(({ host }) => (
                <Link key={host} to={`/hosts/${host}`}>
                  {host}
                </Link>
              ))}
          </li>
        )
      })}
    </ul>
  )
}

const MOST_DIFFERING = 5
const differWords = (count: number): string => `${counted(count)} ${count === 1 ? 'differs' : 'differ'}`
