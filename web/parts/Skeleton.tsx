import styles from './Skeleton.module.css'

/** Holds the place of what is being fetched. */
export function Skeleton({ lines = 3, what }: { readonly lines?: number; readonly what: string }) {
  return (
    <div className={styles.skeleton} role="status">
      <span className="off-screen">Loading {what}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same and never change places
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  )
}
