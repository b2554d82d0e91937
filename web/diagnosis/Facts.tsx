import type { Diagnosis } from '../api/diagnosis.ts'
import type { HostRow } from '../api/hosts.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import { inFull } from '../parts/time.ts'
import { percent } from '../status/Strip.tsx'
import styles from './Facts.module.css'
import { factsOf } from './report.ts'

interface FactsProps {
  readonly diagnosis: Diagnosis
  readonly row: HostRow | undefined
}

/** The place in the configuration. Each fact can be copied. */
export function Facts({ diagnosis, row }: FactsProps) {
  return (
    <div className={styles.facts}>
      <h3>Where it stands</h3>
      <dl className={styles.list}>
        {factsOf(diagnosis).map(({ name, value }) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>
              {value === null ? (
                <span className={styles.none}>not known</span>
              ) : (
                <>
                  <code>{value}</code>
                  <CopyButton text={value} what={name} />
                </>
              )}
            </dd>
          </div>
        ))}
        {row && <Watched row={row} />}
      </dl>
    </div>
  )
}

function Watched({ row: { uptime24h, certificate, expiresAt } }: { readonly row: HostRow }) {
  return (
    <>
      {uptime24h !== null && (
        <div className={styles.fact}>
          <dt>Up in 24 hours</dt>
          <dd>{percent(uptime24h)}</dd>
        </div>
      )}
      {certificate && (
        <div className={styles.fact}>
          <dt>Certificate valid until</dt>
          <dd>
            {inFull(certificate.notAfter)}
            {certificate.level !== 'ok' && <strong> ({certificate.level})</strong>}
          </dd>
        </div>
      )}
      {expiresAt && (
        <div className={styles.fact}>
          <dt>Removes itself</dt>
          <dd>{inFull(expiresAt)}</dd>
        </div>
      )}
    </>
  )
}
