import { useId, useState } from 'react'
import { LONGEST_NOTE, LONGEST_OWNER } from '../../src/model/exposure.ts'
import { HEADER_NAMES, HEADER_WORDS } from '../../src/model/options/grammar.ts'
import type { Policy } from '../api/policy.ts'
import control from '../parts/control.module.css'
import { Field, FieldError } from '../parts/Field.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { type Draft, type FieldErrors, textsIn } from './draft.ts'
import styles from './OptionFields.module.css'
import { errorsIn, OFF, ON, type OptionTexts } from './option-texts.ts'
import form from './PlanForm.module.css'

interface OptionFieldsProps {
  readonly policy: Policy
  readonly draft: Draft
  readonly errors: FieldErrors
  readonly set: (change: Partial<Draft>) => void
  readonly leave: (field: 'options' | 'owner' | 'note') => void
}

const TEXTS: readonly (readonly [path: string, label: string, hint: string])[] = [
  ['maxBody', 'Largest request body', 'Such as 50m; 0 is no limit. Default: 64m'],
  ['timeouts.connect', 'Connect timeout', 'Seconds, 1 to 75. Default: 5'],
  ['timeouts.read', 'Read timeout', 'Seconds. Default: 300'],
  ['timeouts.send', 'Send timeout', 'Seconds. Default: 60'],
  ['allow', 'Allowed networks', 'Such as 10.0.0.0/8, with commas. Default: everybody'],
  ['basicAuth', 'Password file', 'Its id in the configuration. Default: none'],
  ['backendTls.authority', 'Authority of an HTTPS backend', 'Its id in the configuration. Default: plain HTTP'],
  ['backendTls.name', 'Name in the backend’s certificate', 'Default: the host'],
  ['backends', 'Further backends', 'Such as 25:8081, with commas. Default: none'],
  ['snippets', 'Snippets', 'Ids in the configuration, with commas. Default: none'],
  ['headers.hsts.maxAge', 'HSTS, max-age', 'Seconds, such as 31536000. Needs HTTPS. Default: none'],
  ['maintenance.retryAfter', 'Retry-After during maintenance', 'Seconds. Default: 300'],
]

const SWITCHES: readonly (readonly [path: string, label: string, isOnByDefault: boolean])[] = [
  ['websocket', 'Pass WebSocket on', true],
  ['buffering', 'Buffer requests and responses', true],
  ['headers.hsts.includeSubDomains', 'HSTS for names below, too', false],
  ['headers.hsts.preload', 'HSTS preload', false],
  ['maintenance', 'Under maintenance: visitors get 503', false],
]

/** Everything that few exposures need. Closed until somebody opens it, or something in it is wrong. */
export function OptionFields({ policy, draft, errors, set, leave }: OptionFieldsProps) {
  const id = useId()
  // The service takes owner and note only from inside.
  const isInside = policy.caller.network === 'internal'
  const texts = textsIn(draft.options)
  const wrong = errors.options === undefined ? {} : errorsIn(texts)
  const change = (path: string, text: string) => set({ options: withText(texts, path, text) })
  const isRefused = errors.options !== undefined && Object.keys(wrong).length === 0
  const count = Object.keys(texts).length
  const [isOpen, setIsOpen] = useState(false)
  const isWrong = errors.options !== undefined || errors.owner !== undefined || errors.note !== undefined
  return (
    <details
      className={styles.options}
      open={isOpen || isWrong}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        {isInside ? 'Options, owner and note' : 'Options'}
        {count > 0 && ` (${count} set)`}
      </summary>
      <div className={styles.fields}>
        {isRefused && <FieldError id={`${id}-error`} error={errors.options} />}
        <div className={styles.grid}>
          {isInside && <LabelFields {...{ draft, errors, set, leave }} />}
          {TEXTS.map(([path, label, hint]) => (
            <Field key={path} label={label} error={wrong[path]} hint={hint}>
              {(props) => (
                <TermInput
                  {...props}
                  value={texts[path] ?? ''}
                  onChange={(event) => change(path, event.target.value)}
                  onBlur={() => leave('options')}
                />
              )}
            </Field>
          ))}
          {HEADER_NAMES.map((name) => (
            <Field key={name} label={HEADER_WORDS[name].header} error={wrong[`headers.${name}`]}>
              {(props) => (
                <select
                  {...props}
                  className={control.control}
                  value={texts[`headers.${name}`] ?? ''}
                  onChange={(event) => change(`headers.${name}`, event.target.value)}
                >
                  <option value="">As the backend sends it</option>
                  {HEADER_WORDS[name].words.map((word) => (
                    <option key={word}>{word}</option>
                  ))}
                </select>
              )}
            </Field>
          ))}
        </div>
        {SWITCHES.map(([path, label, isOnByDefault]) => (
          <label key={path} className={form.switch}>
            <input
              type="checkbox"
              checked={isOnByDefault ? texts[path] !== OFF : texts[path] === ON}
              onChange={({ target: { checked } }) => change(path, checked === isOnByDefault ? '' : checked ? ON : OFF)}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </details>
  )
}

/** An emptied control has no entry, so that an untouched form and an emptied one are the same. */
function withText(texts: OptionTexts, path: string, text: string): string {
  const { [path]: _, ...others } = texts
  const next = text === '' ? others : { ...others, [path]: text }
  return Object.keys(next).length === 0 ? '' : JSON.stringify(next)
}

function LabelFields({ draft, errors, set, leave }: Omit<OptionFieldsProps, 'policy'>) {
  return (
    <>
      <Field label="Owner" error={errors.owner} hint="Who is responsible. Callers inside see it.">
        {(props) => (
          <TermInput
            {...props}
            maxLength={LONGEST_OWNER}
            value={draft.owner}
            onChange={(event) => set({ owner: event.target.value })}
            onBlur={() => leave('owner')}
          />
        )}
      </Field>
      <Field label="Note" error={errors.note} hint="What it is for. Callers inside see it.">
        {(props) => (
          <TermInput
            {...props}
            maxLength={LONGEST_NOTE}
            value={draft.note}
            onChange={(event) => set({ note: event.target.value })}
            onBlur={() => leave('note')}
          />
        )}
      </Field>
    </>
  )
}
