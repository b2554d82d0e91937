import { type ReactNode, useId } from 'react'
import styles from './Field.module.css'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly children: (control: ControlProps) => ReactNode
}

/** The attributes that connect a control to its label, hint and error. */
interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const described = error ? `${id}-error` : hint ? `${id}-hint` : undefined
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {/* The space is reserved: an error that appears must not move the control that is being clicked. */}
      <div className={styles.note}>
        {error ? (
          <FieldError id={`${id}-error`} error={error} />
        ) : (
          hint && (
            <p id={`${id}-hint`} className={styles.hint}>
              {hint}
            </p>
          )
        )}
      </div>
    </div>
  )
}

export function FieldError({ id, error }: { readonly id: string; readonly error: string | undefined }) {
  return error ? (
    <p id={id} className={styles.error}>
      {error}
    </p>
  ) : null
}
