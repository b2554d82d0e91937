import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../api/client.ts'
import type { HostRow } from '../api/hosts.ts'
import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull, useNow } from '../parts/time.ts'
import { Repairs } from '../repair/Repairs.tsx'
import { Resolving } from '../run/Resolving.tsx'
import { needsOf, secondaryWords } from '../status/attention.ts'
import { ExtendDialog } from './ExtendDialog.tsx'
import styles from './HostActs.module.css'

interface HostActsProps {
  readonly row: HostRow
  readonly policy: Policy
  /** Whether the diagnosis offers acts already. They are not offered twice. */
  readonly isRepairOffered: boolean
  readonly isExtending: boolean
  readonly setExtending: (isExtending: boolean) => void
}

/** What needs attention beside the badge, each with the act that mends it. Only for callers inside. */
export function HostActs({ row, policy, isRepairOffered, isExtending, setExtending }: HostActsProps) {
  const now = useNow(10_000)
  const { planId } = row
  if (planId === undefined || policy.caller.network !== 'internal') return null
  const { blocked, secondary, expiresAt } = row
  return (
    <div className={styles.acts}>
      {blocked && (
        <Notice tone="bad" title={`${row.host} is blocked`}>
          <Resolving planId={planId} />
        </Notice>
      )}
      {(secondary === 'missing' || secondary === 'differs') && (
        <Notice tone="warning" title={secondaryWords(secondary)}>
          <p>The Primary serves the host. Drawbridge updates the Secondary automatically; Repair does it now.</p>
          {!isRepairOffered && <RepairSecondary planId={planId} policy={policy} />}
        </Notice>
      )}
      {expiresAt && (
        <Expiry
          row={row}
          planId={planId}
          expiresAt={expiresAt}
          isSoon={needsOf(row, now).includes('ends')}
          isAsked={isExtending}
          setAsked={setExtending}
        />
      )}
    </div>
  )
}

function RepairSecondary({ planId, policy }: { readonly planId: string; readonly policy: Policy }) {
  const { data: plan } = usePlan(planId)
  return plan ? <Repairs plan={plan} policy={policy} acts={['repair']} withRun /> : null
}

interface ExpiryProps {
  readonly row: HostRow
  readonly planId: string
  readonly expiresAt: string
  readonly isSoon: boolean
  readonly isAsked: boolean
  readonly setAsked: (isAsked: boolean) => void
}

function Expiry({ row: { host, owner }, planId, expiresAt, isSoon, isAsked, setAsked }: ExpiryProps) {
  const queries = useQueryClient()
  const extending = useMutation({
    mutationFn: (seconds: number) => client.extendPlan(planId, seconds),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['plan', planId] }),
  })
  return (
    <Notice tone={isSoon ? 'warning' : 'calm'} title={`Removes itself ${inFull(expiresAt)}`}>
      <p>The name, the proxy entry and the certificate go then. The backend is not touched.</p>
      {extending.error && <Trouble fault={extending.error} />}
      <p>
        <Button busy={extending.isPending} onClick={() => setAsked(true)}>
          Extend…
        </Button>{' '}
        <span role="status">{extending.isSuccess && 'Extended.'}</span>
      </p>
      {isAsked && (
        <ExtendDialog
          hosts={[host]}
          owners={[owner]}
          onCancel={() => setAsked(false)}
          onExtend={(seconds) => {
            setAsked(false)
            extending.mutate(seconds)
          }}
        />
      )}
    </Notice>
  )
}
