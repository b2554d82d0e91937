import { useEffect, useRef } from 'react'
import styles from './FilterMenu.module.css'

interface FilterMenuProps {
  readonly words: string
  readonly values: readonly string[]
  /** Empty means all. */
  readonly chosen: readonly string[]
  readonly onChoose: (chosen: readonly string[]) => void
}

/** A filter with several values at once. A click outside or Esc closes it. */
export function FilterMenu({ words, values, chosen, onChoose }: FilterMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      if (menu.current && !menu.current.contains(event.target as Node)) menu.current.open = false
    }
    document.addEventListener('pointerdown', close)
    return () => document.removeEventListener('pointerdown', close)
  }, [])
  return (
    <details
      ref={menu}
      className={styles.menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return
        event.preventDefault()
        event.stopPropagation()
        menu.current.open = false
        menu.current.querySelector('summary')?.focus()
      }}
    >
      <summary className={styles.summary} data-chosen={chosen.length > 0}>
        {words}: {chosen.length === 0 ? 'all' : chosen.join(', ')}
      </summary>
      <fieldset className={styles.values}>
        <legend className="off-screen">{words}</legend>
        {values.map((value) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={({ target }) =>
                onChoose(target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
              }
            />
            {value}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
