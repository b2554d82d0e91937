import type { ReactNode } from 'react'
import type { HostRow } from '../api/hosts.ts'
import type { Plan } from '../api/plans.ts'
import { inFull, useNow } from '../parts/time.ts'
import { OwnerFacts } from '../plan/OwnerFacts.tsx'
import { daysLeft, issuedBy } from '../status/attention.ts'
import styles from './HostPage.module.css'

interface HostFactsProps {
  readonly row: HostRow
  readonly plan: Plan | undefined
}

export function HostFacts({ row, plan }: HostFactsProps) {
  const now = useNow(60_000)
  const { certificate } = row
  return (
    <dl className={styles.facts}>
      {row.server && (
        <Fact name="Backend">
          Server {row.server}
          {row.port !== undefined && `, port ${row.port}`}
        </Fact>
      )}
      <Fact name="Managed">{row.managed ? 'Yes' : 'No: it is in nginx, but Drawbridge did not create it'}</Fact>
      <Fact name="Last check">{row.checkedAt ? inFull(row.checkedAt) : 'Not yet'}</Fact>
      <Fact name="Certificate">
        {certificate
          ? `${daysLeft(certificate.notAfter, now)}, until ${inFull(certificate.notAfter)}${issuedBy(certificate)}`
          : row.tls
            ? 'Not seen yet'
            : 'none (HTTP)'}
      </Fact>
      <Fact name="Removes itself">{row.expiresAt ? inFull(row.expiresAt) : 'Never'}</Fact>
      {plan && <OwnerFacts request={plan.request} />}
      {plan?.changes.map((change) =>
        change.kind === 'dns' ? (
          <Fact key={`${change.name}${change.type}`} name={`Record ${change.type}`}>
            {change.name} {change.value}
          </Fact>
        ) : change.kind === 'proxy' ? (
          <Fact key="proxy" name="Entry">
            {change.serverName} → {change.target}
          </Fact>
        ) : null,
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
