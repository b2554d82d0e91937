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
  /** The messages of the service, by the path of the option. */
  readonly refused: OptionTexts
  readonly draft: Draft
  readonly errors: FieldErrors
  readonly set: (change: Partial<Draft>) => void
  readonly leave: (field: 'options' | 'owner' | 'note') => void
}

type Text = readonly [path: string, label: string, hint: string, example?: string]
type Switch = readonly [path: string, label: string, isOnByDefault: boolean]

interface Group {
  readonly title: string
  readonly texts: readonly Text[]
  readonly switches: readonly Switch[]
  readonly hasHeaders?: boolean
}

const GROUPS: readonly Group[] = [
  {
    title: 'Limits',
    texts: [
      ['maxBody', 'Largest request body', '0 is no limit. Default: 64m', '50m'],
      ['timeouts.connect', 'Connect timeout', 'Seconds, 1 to 75. Default: 5', '5'],
      ['timeouts.read', 'Read timeout', 'Seconds. Default: 300', '300'],
      ['timeouts.send', 'Send timeout', 'Seconds. Default: 60', '60'],
    ],
    switches: [],
  },
  {
    title: 'Access',
    texts: [
      ['allow', 'Allowed networks', 'With commas. Default: everybody', '10.0.0.0/8'],
      ['basicAuth', 'Password file', 'Its id in the configuration. Default: none'],
      ['maintenance.retryAfter', 'Retry-After during maintenance', 'Seconds. Default: 300', '300'],
    ],
    switches: [['maintenance', 'Under maintenance: visitors get 503', false]],
  },
  {
    title: 'Headers',
    texts: [['headers.hsts.maxAge', 'HSTS, max-age', 'Seconds. Needs HTTPS. Default: none', '31536000']],
    switches: [
      ['headers.hsts.includeSubDomains', 'HSTS for names below, too', false],
      ['headers.hsts.preload', 'HSTS preload', false],
    ],
    hasHeaders: true,
  },
  {
    title: 'Backend',
    texts: [
      ['backends', 'Further backends', 'With commas. Default: none', '25:8081'],
      ['backendTls.authority', 'Authority of an HTTPS backend', 'Its id in the configuration. Default: plain HTTP'],
      ['backendTls.name', 'Name in the backend’s certificate', 'Default: the host', 'app.example.com'],
      ['snippets', 'Snippets', 'Ids in the configuration, with commas. Default: none'],
    ],
    switches: [
      ['websocket', 'Pass WebSocket on', true],
      ['buffering', 'Buffer requests and responses', true],
    ],
  },
]

/** Everything that few exposures need. Closed until somebody opens it, or something in it is wrong. */
export function OptionFields({ policy, refused, draft, errors, set, leave }: OptionFieldsProps) {
  const id = useId()
  // The service takes owner and note only from inside.
  const isInside = policy.caller.network === 'internal'
  const texts = textsIn(draft.options)
  const wrong: OptionTexts = errors.options === undefined ? {} : { ...refused, ...errorsIn(texts) }
  const change = (path: string, text: string) => set({ options: withText(texts, path, text) })
  const isElsewhere = errors.options !== undefined && !Object.keys(wrong).some((path) => PATHS.has(path))
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
        {isElsewhere && <FieldError id={`${id}-error`} error={errors.options} />}
        {isInside && (
          <fieldset className={styles.group}>
            <legend>Owner and note</legend>
            <div className={styles.grid}>
              <LabelFields {...{ draft, errors, set, leave }} />
            </div>
          </fieldset>
        )}
        {GROUPS.map((group) => (
          <GroupFields
            key={group.title}
            group={group}
            texts={texts}
            wrong={wrong}
            change={change}
            leave={() => leave('options')}
          />
        ))}
      </div>
    </details>
  )
}

const PATHS: ReadonlySet<string> = new Set([
  ...GROUPS.flatMap(({ texts }) => texts.map(([path]) => path)),
  ...HEADER_NAMES.map((name) => `headers.${name}`),
])

interface GroupFieldsProps {
  readonly group: Group
  readonly texts: OptionTexts
  readonly wrong: OptionTexts
  readonly change: (path: string, text: string) => void
  readonly leave: () => void
}

function GroupFields({ group, texts, wrong, change, leave }: GroupFieldsProps) {
  return (
    <fieldset className={styles.group}>
      <legend>{group.title}</legend>
      <div className={styles.grid}>
        {group.texts.map(([path, label, hint, example]) => (
          <Field key={path} label={label} error={wrong[path]} hint={hint}>
            {(props) => (
              <TermInput
                {...props}
                placeholder={example}
                value={texts[path] ?? ''}
                onChange={(event) => change(path, event.target.value)}
                onBlur={leave}
              />
            )}
          </Field>
        ))}
        {group.hasHeaders &&
          HEADER_NAMES.map((name) => (
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
      {group.switches.map(([path, label, isOnByDefault]) => (
        <label key={path} className={form.switch}>
          <input
            type="checkbox"
            checked={isOnByDefault ? texts[path] !== OFF : texts[path] === ON}
            onChange={({ target: { checked } }) => change(path, checked === isOnByDefault ? '' : checked ? ON : OFF)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** An emptied control has no entry, so that an untouched form and an emptied one are the same. */
function withText(texts: OptionTexts, path: string, text: string): string {
  const { [path]: _, ...others } = texts
  const next = text === '' ? others : { ...others, [path]: text }
  return Object.keys(next).length === 0 ? '' : JSON.stringify(next)
}

function LabelFields({ draft, errors, set, leave }: Omit<OptionFieldsProps, 'policy' | 'refused'>) {
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
