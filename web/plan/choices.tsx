import { useId } from 'react'
import { FieldError } from '../parts/Field.tsx'
import styles from './PlanForm.module.css'

interface ServerChoiceProps {
  readonly servers: readonly string[]
  readonly chosen: string
  readonly error: string | undefined
  readonly onChoose: (server: string) => void
}

export function ServerChoice({ servers, chosen, error, onChoose }: ServerChoiceProps) {
  const id = useId()
  return (
    <fieldset className={styles.servers} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>Target server</legend>
      <div className={styles.choices}>
        {servers.map((server) => (
          <label key={server} className={styles.choice}>
            <input
              type="radio"
              name={id}
              value={server}
              checked={chosen === server}
              aria-invalid={error ? true : undefined}
              onChange={() => onChoose(server)}
            />
            <span className={styles.serverWord} aria-hidden="true">
              Server
            </span>
            <span>{server}</span>
          </label>
        ))}
      </div>
      <div className={styles.serverNote}>
        <FieldError id={`${id}-error`} error={error} />
      </div>
    </fieldset>
  )
}

interface HttpsChoiceProps {
  readonly isChosen: boolean
  readonly error: string | undefined
  readonly onChoose: (tls: boolean) => void
}

export function HttpsChoice({ isChosen, error, onChoose }: HttpsChoiceProps) {
  const id = useId()
  return (
    <div className={styles.https}>
      <label className={styles.switch}>
        <input
          type="checkbox"
          checked={isChosen}
          aria-describedby={error ? `${id}-error` : undefined}
          aria-invalid={error ? true : undefined}
          onChange={(event) => onChoose(event.target.checked)}
        />
        <span>HTTPS, with a certificate for the name</span>
      </label>
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}
