import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
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
import { attentionOf } from '../status/attention.ts'
import { ExtendDialog } from './ExtendDialog.tsx'
import styles from './HostActs.module.css'

interface HostActsProps {
  readonly row: HostRow
  readonly policy: Policy
  /** Whether the diagnosis offers acts already. They are not offered twice. */
  readonly isRepairOffered: boolean
}

/** What needs attention beside the badge, each with the act that mends it. Only for callers inside. */
export function HostActs({ row, policy, isRepairOffered }: HostActsProps) {
  const now = useNow(10_000)
  const { planId } = row
  if (planId === undefined || policy.caller.network !== 'internal') return null
  const found = attentionOf(row, now)
  const has = (kind: string) => found.find((one) => one.kind === kind)
  const secondary = has('secondary')
  return (
    <div className={styles.acts}>
      {has('blocked') && (
        <Notice tone="bad" title={`${row.host} is blocked`}>
          <Resolving planId={planId} />
        </Notice>
      )}
      {secondary && (
        <Notice tone="warning" title={secondary.words}>
          <p>The Primary serves the host. Drawbridge updates the Secondary automatically; Repair does it now.</p>
          {!isRepairOffered && <RepairSecondary planId={planId} policy={policy} />}
        </Notice>
      )}
      {row.expiresAt && (
        <Expiry row={row} planId={planId} expiresAt={row.expiresAt} isSoon={has('expires') !== undefined} />
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
}

function Expiry({ row: { host, owner }, planId, expiresAt, isSoon }: ExpiryProps) {
  const queries = useQueryClient()
  const [isAsked, setIsAsked] = useState(false)
  const extending = useMutation({
    mutationFn: (seconds: number) => client.extendPlan(planId, seconds),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['plan', planId] }),
  })
  return (
    <Notice tone={isSoon ? 'warning' : 'calm'} title={`Expires ${inFull(expiresAt)}`}>
      <p>The exposure removes itself then. The backend is not touched.</p>
      {extending.error && <Trouble fault={extending.error} />}
      <p>
        <Button busy={extending.isPending} onClick={() => setIsAsked(true)}>
          Extend…
        </Button>
      </p>
      {isAsked && (
        <ExtendDialog
          hosts={[host]}
          owners={[owner]}
          onCancel={() => setIsAsked(false)}
          onExtend={(seconds) => {
            setIsAsked(false)
            extending.mutate(seconds)
          }}
        />
      )}
    </Notice>
  )
}
