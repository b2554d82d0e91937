import { useEffect, useRef, useState } from 'react'
import { useHosts } from '../api/hosts.ts'
import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull, useNow } from '../parts/time.ts'
import { Repairs } from '../repair/Repairs.tsx'
import { Link } from '../shell/Link.tsx'
import { go, useSearch } from '../shell/location.ts'
import { Page } from '../shell/Page.tsx'
import { daysLeft, isForOthers } from '../status/attention.ts'
import styles from './CertificatesPage.module.css'

/** The certificate that each host serves, the one that ends first on top. */
export default function CertificatesPage({ policy }: { readonly policy: Policy }) {
  const hosts = useHosts()
  const now = useNow(60_000)
  const [open, setOpen] = useState<string>()
  const search = useSearch()
  useEffect(() => {
    const wanted = new URLSearchParams(search).get('renew')
    if (!wanted) return
    setOpen(wanted)
    // A reload does not ask again.
    go(location.pathname, { replace: true })
  }, [search])
  const rows = (hosts.data?.rows ?? [])
    .flatMap((row) => (row.certificate ? [{ ...row, certificate: row.certificate }] : []))
    .sort((a, b) => a.certificate.notAfter.localeCompare(b.certificate.notAfter))
  const mayRenew = policy.caller.may.includes('renew')
  return (
    <Page title="Certificates" lead="The certificate that each host serves, the one that ends first on top.">
      {hosts.isPending && <Skeleton lines={8} what="the certificates" />}
      {hosts.error && !hosts.data && <Trouble fault={hosts.error} again={() => void hosts.refetch()} />}
      {hosts.data && rows.length === 0 && <Notice tone="calm" title="No host serves a certificate yet" />}
      {rows.length > 0 && (
        <ul className={styles.list} aria-label="Certificates">
          {rows.map(({ host, certificate, planId, managed }) => (
            <li key={host} className={styles.line}>
              <span
                className={styles.days}
                data-level={isForOthers({ host, certificate }) ? 'critical' : certificate.level}
              >
                {daysLeft(certificate.notAfter, now)}
              </span>
              <span className={styles.host}>
                <Link to={`/hosts/${host}/details`}>{host}</Link>
              </span>
              <span className={styles.until}>Valid until {inFull(certificate.notAfter)}</span>
              <span className={styles.issuer}>
                {certificate.issuer === undefined
                  ? 'Issuer not seen yet'
                  : `${certificate.issuer}: ${certificate.names?.join(', ')}`}
                {isForOthers({ host, certificate }) && <strong className={styles.wrong}> Does not cover {host}</strong>}
              </span>
              {mayRenew && planId && (
                <Button onClick={() => setOpen(open === host ? undefined : host)} aria-expanded={open === host}>
                  Renew…
                </Button>
              )}
              {!managed && <span className={styles.until}>Unmanaged: renewed elsewhere</span>}
              {open === host && planId && <Renewal host={host} planId={planId} policy={policy} />}
            </li>
          ))}
        </ul>
      )}
    </Page>
  )
}

interface RenewalProps {
  readonly host: string
  readonly planId: string
  readonly policy: Policy
}

/** Takes the focus: whoever asked for it by the palette is somewhere else, above thousands of certificates. */
function Renewal({ host, planId, policy }: RenewalProps) {
  const { data: plan } = usePlan(planId)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.focus(), [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <div ref={place} tabIndex={-1} role="group" aria-label={`Renewal for ${host}`} className={styles.renewal}>
      {plan ? <Repairs plan={plan} policy={policy} acts={['renew']} withRun /> : <Skeleton lines={2} what="the plan" />}
    </div>
  )
}
