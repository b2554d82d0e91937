import { type Draft, hostOf } from './draft.ts'
import styles from './PlanForm.module.css'

/** The DNS name, while it is typed. */
export function HostPreview({ draft }: { readonly draft: Draft }) {
  const scheme = draft.tls ? 'https' : 'http'
  return (
    <p className={styles.preview}>
      <span className={styles.previewLabel}>Public URL</span>
      <output className={styles.host} aria-live="polite">
        <span className={styles.scheme}>{scheme}://</span>
        {draft.subdomain.trim() === '' ? `….${draft.zone}` : hostOf(draft)}
      </output>
    </p>
  )
}
