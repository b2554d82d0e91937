import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import control from '../parts/control.module.css'
import { Field } from '../parts/Field.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { span } from '../parts/time.ts'
import { HttpsChoice, ServerChoice } from './choices.tsx'
import {
  checkAll,
  checkField,
  type Draft,
  type FieldErrors,
  type FieldName,
  portRanges,
  USUAL_HEALTH,
} from './draft.ts'
import { HostPreview } from './HostPreview.tsx'
import { OptionFields } from './OptionFields.tsx'
import type { OptionTexts } from './option-texts.ts'
import styles from './PlanForm.module.css'

interface PlanFormProps {
  readonly policy: Policy
  readonly draft: Draft
  /** A plan that replaces another one keeps its name. */
  readonly isNameFixed: boolean
  /** A plan that replaces a permanent exposure cannot give it an end. */
  readonly isPermanent: boolean
  readonly onChange: (draft: Draft) => void
  readonly onSubmit: () => void
  readonly isBusy: boolean
  /** Empties the form. Undefined while there is nothing to empty. */
  readonly onClear: (() => void) | undefined
  /** The refusals of the service, by field, and those of options by the path of the option. */
  readonly refused: FieldErrors
  readonly refusedOptions: OptionTexts
}

const LIVES: readonly (readonly [seconds: string, words: string])[] = [
  ['', 'Never'],
  ['3600', 'After one hour'],
  ['86400', 'After one day'],
  ['604800', 'After one week'],
  ['2592000', 'After 30 days'],
]

export function PlanForm({
  policy,
  draft,
  isNameFixed,
  isPermanent,
  onChange,
  onSubmit,
  isBusy,
  onClear,
  refused,
  refusedOptions,
}: PlanFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [own, setOwn] = useState<FieldErrors>({})
  // A field that is left without a fault of its own keeps the refusal of the service until it is changed.
  const faults = Object.entries(own).filter(([, error]) => error !== undefined)
  const errors: FieldErrors = { ...refused, ...Object.fromEntries(faults) }
  const set = (change: Partial<Draft>) => {
    onChange({ ...draft, ...change })
    setOwn((before) => ({ ...before, ...Object.fromEntries(Object.keys(change).map((field) => [field, undefined])) }))
  }
  const now = useRef({ draft, policy })
  now.current = { draft, policy }
  const whenReleased = useWhenReleased()
  const leave = (field: FieldName) =>
    whenReleased(() =>
      setOwn((before) => ({ ...before, [field]: checkField(field, now.current.draft, now.current.policy) })),
    )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = checkAll(draft, policy)
    // At once, so that the focus is not taken away from what is clicked next.
    flushSync(() => setOwn(found))
    if (Object.keys(found).length === 0) onSubmit()
    else form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }
  useFocusOnRefusal(form, refused)
  const fields = { draft, errors, set, leave }

  return (
    <form ref={form} className={styles.form} noValidate onSubmit={submit} aria-label="Expose a service">
      <NameFields policy={policy} isFixed={isNameFixed} {...fields} />
      <HostPreview draft={draft} />
      <ServerChoice
        servers={policy.servers.targets}
        chosen={draft.server}
        error={errors.server}
        onChoose={(server) => set({ server })}
      />
      <BackendFields policy={policy} {...fields} />
      <HttpsChoice isChosen={draft.tls} error={errors.tls} onChoose={(tls) => set({ tls })} />
      {!isPermanent && <ExpiresField {...fields} />}
      <OptionFields policy={policy} refused={refusedOptions} {...fields} />
      <div className={styles.submit}>
        <Button type="submit" look="main" busy={isBusy}>
          Check and plan
        </Button>
        {onClear && (
          <Button look="quiet" onClick={onClear}>
            Clear
          </Button>
        )}
      </div>
    </form>
  )
}

interface FieldsProps {
  readonly policy: Policy
  readonly draft: Draft
  readonly errors: FieldErrors
  readonly set: (change: Partial<Draft>) => void
  /** Checks a field when the person leaves it. */
  readonly leave: (field: FieldName) => void
}

function NameFields({ policy, draft, errors, set, leave, isFixed }: FieldsProps & { readonly isFixed: boolean }) {
  return (
    <div className={styles.name}>
      <Field label="Subdomain" error={errors.subdomain}>
        {(props) => (
          <TermInput
            {...props}
            placeholder="shop"
            value={draft.subdomain}
            readOnly={isFixed}
            onChange={(event) => set({ subdomain: event.target.value })}
            onBlur={() => draft.subdomain && leave('subdomain')}
          />
        )}
      </Field>
      <Field label="Zone" error={errors.zone}>
        {(props) => (
          <select
            {...props}
            className={`${control.control} ${control.mono}`}
            value={draft.zone}
            disabled={isFixed}
            onChange={(event) => set({ zone: event.target.value })}
            onBlur={() => leave('zone')}
          >
            {draft.zone === '' && <option value="">Choose…</option>}
            {policy.zones.map((zone) => (
              <option key={zone}>{zone}</option>
            ))}
          </select>
        )}
      </Field>
    </div>
  )
}

function BackendFields({ policy, draft, errors, set, leave }: FieldsProps) {
  return (
    <div className={styles.backend}>
      <Field label="Port" error={errors.port} hint={`Allowed: ${portRanges(policy.ports.allowed)}`}>
        {(props) => (
          <TermInput
            {...props}
            inputMode="numeric"
            placeholder="3000"
            value={draft.port}
            onChange={(event) => set({ port: event.target.value.trim() })}
            onBlur={() => draft.port && leave('port')}
          />
        )}
      </Field>
      <Field label="Health path" error={errors.health} hint={`Must answer with HTTP 2xx. Empty: ${USUAL_HEALTH}`}>
        {(props) => (
          <TermInput
            {...props}
            maxLength={1024}
            placeholder={USUAL_HEALTH}
            value={draft.health}
            onChange={(event) => set({ health: event.target.value })}
            onBlur={() => leave('health')}
          />
        )}
      </Field>
    </div>
  )
}

/** The choices, and the value of the plan that is changed if it is none of them. */
const livesWith = (chosen: string): typeof LIVES =>
  LIVES.some(([seconds]) => seconds === chosen) ? LIVES : [...LIVES, [chosen, `After ${span(Number(chosen) * 1000)}`]]

/**
 * Runs a callback now, or after the click if a mouse button is down. A field loses the focus when the button goes down, and an
 * error that moves the page before the button goes up would make the click miss its target.
 */
function useWhenReleased(): (run: () => void) => void {
  const isPressed = useRef(false)
  const waiting = useRef<(() => void)[]>([])
  useEffect(() => {
    const press = () => {
      isPressed.current = true
    }
    const release = () => {
      isPressed.current = false
      // The click event follows the release in the same task.
      window.setTimeout(() => {
        for (const run of waiting.current.splice(0)) run()
      })
    }
    window.addEventListener('pointerdown', press, true)
    for (const name of ['pointerup', 'pointercancel']) window.addEventListener(name, release, true)
    return () => {
      window.removeEventListener('pointerdown', press, true)
      for (const name of ['pointerup', 'pointercancel']) window.removeEventListener(name, release, true)
    }
  }, [])
  return (run) => {
    if (isPressed.current) waiting.current.push(run)
    else run()
  }
}

function useFocusOnRefusal(form: RefObject<HTMLFormElement | null>, refused: FieldErrors): void {
  const marked = Object.keys(refused).join()
  useEffect(() => {
    const isElsewhere = document.activeElement?.matches('input, select')
    if (marked && !isElsewhere) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [form, marked])
}

function ExpiresField({ draft, errors, set }: Pick<FieldsProps, 'draft' | 'errors' | 'set'>) {
  return (
    <Field
      label="Removes itself"
      error={errors.expiresIn}
      hint="Name, entry and certificate go then. The backend stays."
    >
      {(props) => (
        <select
          {...props}
          className={control.control}
          value={draft.expiresIn}
          onChange={(event) => set({ expiresIn: event.target.value })}
        >
          {livesWith(draft.expiresIn).map(([seconds, words]) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
