import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { planMaintenance } from '../../src/client/maintenance.ts'
import { client } from '../api/client.ts'
import { type Plan, usePlan } from '../api/plans.ts'
import { Button } from '../parts/Button.tsx'
import control from '../parts/control.module.css'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { span } from '../parts/time.ts'
import { useOwnerConsent } from '../run/owner-consent.tsx'
import styles from '../run/RunPanel.module.css'
import { RunStory } from '../run/RunStory.tsx'
import { useRun } from '../run/run.ts'

/** Begins runs that put a host into maintenance or take it out. */
export function useMaintenance() {
  const queries = useQueryClient()
  const changing = useMutation({
    mutationFn: async ({
      planId,
      retryAfter,
    }: {
      readonly planId: string
      readonly retryAfter: number | undefined
    }) => {
      const made = await planMaintenance(client, planId, retryAfter !== undefined && { retryAfter })
      await client.beginRun(made.planId, 'apply')
      return made.planId
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['plans'] }),
  })
  const { data: begun } = usePlan(changing.data)
  return { changing, begun }
}

interface MaintenanceProps extends ReturnType<typeof useMaintenance> {
  readonly plan: Plan
  readonly isAsked: boolean
  readonly onAnswered: () => void
}

/** Whether visitors of a host get a maintenance page, and the run that changes it. The change is a run like any other. */
export function Maintenance({ plan, changing, begun, isAsked, onAnswered }: MaintenanceProps) {
  const place = useRef<HTMLDivElement>(null)
  const { maintenance } = plan.request.options ?? {}
  const isOn = maintenance !== undefined
  const begin = (retryAfter: number | undefined) => {
    onAnswered()
    changing.mutate({ planId: plan.planId, retryAfter })
    requestAnimationFrame(() => place.current?.focus())
  }
  if (!isOn && !isAsked && !begun && changing.isIdle) return null
  return (
    <Panel title="Maintenance">
      {isOn && (
        <Notice tone="warning" title="Under maintenance">
          <p>
            Visitors get HTTP 503 with a small page that says to come back in{' '}
            {span((maintenance.retryAfter ?? 300) * 1000)}. The backend is not asked, so the badge says nothing about
            it.
          </p>
        </Notice>
      )}
      <div ref={place} tabIndex={-1} className={styles.story}>
        {changing.error && <Trouble fault={changing.error} />}
        {begun && <MaintenanceRun plan={begun} />}
      </div>
      {isAsked && <MaintenanceDialog plan={plan} isOn={isOn} onCancel={onAnswered} onConfirm={begin} />}
    </Panel>
  )
}

function MaintenanceRun({ plan }: { readonly plan: Plan }) {
  const { isRunning, action, events } = useRun(plan, undefined)
  return <RunStory plan={plan} action={action} events={events} isRunning={isRunning} />
}

const TIMES = [300, 900, 3_600, 14_400, 86_400]

interface MaintenanceDialogProps {
  readonly plan: Plan
  readonly isOn: boolean
  readonly onCancel: () => void
  /** Undefined ends the maintenance. */
  readonly onConfirm: (retryAfter: number | undefined) => void
}

function MaintenanceDialog({ plan: { host, request }, isOn, onCancel, onConfirm }: MaintenanceDialogProps) {
  const [seconds, setSeconds] = useState(300)
  const { isGiven, question } = useOwnerConsent([request.owner])
  return (
    <Dialog title={isOn ? `End the maintenance of ${host}?` : `Put ${host} into maintenance?`} onClose={onCancel}>
      <p>
        {isOn
          ? 'Visitors are passed on to the backend again, without a gap. The backend must be healthy.'
          : 'Both edges answer visitors with HTTP 503 and a small page. The name, the certificate and the backend stay as they are.'}
      </p>
      {!isOn && (
        <Field
          label="Tell visitors to come back in"
          hint="The header Retry-After. The maintenance does not end by itself."
        >
          {(props) => (
            <select
              {...props}
              className={control.control}
              value={seconds}
              onChange={(event) => setSeconds(Number(event.target.value))}
            >
              {TIMES.map((value) => (
                <option key={value} value={value}>
                  {span(value * 1000)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {question}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="main" disabled={!isGiven} onClick={() => onConfirm(isOn ? undefined : seconds)}>
          {isOn ? `End maintenance of ${host}` : `Begin maintenance of ${host}`}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
