import { type ReactNode, useState } from 'react'
import styles from './RunPanel.module.css'

const NAME = 'drawbridge.owners'

/** The owners that the person of this tab has said to act for. */
function known(): readonly string[] {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? '[]') as readonly string[]
  } catch {
    return []
  }
}

function keep(owners: readonly string[]): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(owners))
  } catch {
    // Without storage, the question comes again.
  }
}

interface Consent {
  /** False: the act must wait until the person has answered. */
  readonly isGiven: boolean
  readonly question: ReactNode
}

/** Asks before a host is changed that belongs to somebody. The page does not know who its user is, so it asks once per tab and owner. */
export function useOwnerConsent(owners: readonly (string | undefined)[]): Consent {
  const [agreed, setAgreed] = useState(known)
  const asked = [...new Set(owners.flatMap((owner) => owner ?? []))]
  const isGiven = asked.every((owner) => agreed.includes(owner))
  if (asked.length === 0) return { isGiven, question: null }
  const answer = (isChecked: boolean) => {
    const others = known().filter((owner) => !asked.includes(owner))
    const next = isChecked ? [...others, ...asked] : others
    keep(next)
    setAgreed(next)
  }
  const names = asked.join(', ')
  const question = (
    <label className={styles.consent}>
      <input type="checkbox" checked={isGiven} onChange={(event) => answer(event.target.checked)} />
      <span>
        <strong>
          {asked.length === 1 ? 'It belongs to' : 'They belong to'} {names}.
        </strong>{' '}
        I act for {asked.length === 1 ? asked[0] : 'all of them'}.
      </span>
    </label>
  )
  return { isGiven, question }
}
