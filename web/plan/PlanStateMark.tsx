import type { Plan } from '../api/plans.ts'
import styles from './PlanStateMark.module.css'

const WORDS: Record<Plan['state'], string> = {
  planned: 'Planned',
  applying: 'Applying',
  applied: 'Applied',
  removing: 'Removing',
  removed: 'Removed',
  rolled_back: 'Rolled back',
  expired: 'Expired',
  blocked: 'Blocked',
  replaced: 'Replaced',
  released: 'Released',
}

export function PlanStateMark({ state }: { readonly state: Plan['state'] }) {
  return (
    <span className={styles.mark} data-state={state}>
      {WORDS[state]}
    </span>
  )
}
