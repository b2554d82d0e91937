import styles from './Skeleton.module.css'

/** A placeholder while data loads. */
export function Skeleton({ lines = 3, what }: { readonly lines?: number; readonly what: string }) {
  return (
    <div className={styles.skeleton} role="status">
      <span className="off-screen">Loading {what}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  )
}
