import { type ReactNode, useEffect, useId, useRef } from 'react'
import styles from './Dialog.module.css'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  /** The title is only heard. */
  readonly isTitleHidden?: boolean
  readonly children: ReactNode
}

/** The browser's own modal dialog. It keeps the focus, makes the rest inert and closes on Esc. */
export function Dialog({ title, onClose, isTitleHidden = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = element.current
    const before = document.activeElement
    if (dialog && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      className={styles.dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={titleId} className={isTitleHidden ? 'off-screen' : styles.title}>
        {title}
      </h2>
      {children}
    </dialog>
  )
}

export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}
