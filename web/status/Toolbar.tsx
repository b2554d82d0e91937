import { useEffect, useId, useRef } from 'react'
import { BadgeShape } from '../parts/Badge.tsx'
import { badgeKind } from '../parts/badge-kind.ts'
import control from '../parts/control.module.css'
import { Icon } from '../parts/icons.tsx'
import type { View } from './host-list.ts'
import styles from './Toolbar.module.css'

interface ToolbarProps {
  readonly view: View
  readonly onChange: (change: Partial<View>) => void
  readonly counts: readonly (readonly [badge: string, count: number])[]
  readonly servers: readonly string[]
  readonly total: number
  readonly found: number
  /** Moves the focus from the search to the list. */
  readonly onLeave: () => void
}

export function Toolbar({ view, onChange, counts, servers, total, found, onLeave }: ToolbarProps) {
  const serverId = useId()
  return (
    <div className={styles.toolbar}>
      <SearchField search={view.search} onSearch={(search) => onChange({ search })} onLeave={onLeave} />
      <label htmlFor={serverId} className={styles.server}>
        <span>Server</span>
        <select
          id={serverId}
          className={control.control}
          value={view.server}
          onChange={(event) => onChange({ server: event.target.value })}
        >
          <option value="">all</option>
          {servers.map((server) => (
            <option key={server} value={server}>
              {server}
            </option>
          ))}
        </select>
      </label>
      <fieldset className={styles.badges}>
        <legend className="off-screen">Show only hosts with this badge</legend>
        <Choice words="All" count={total} isChosen={view.badge === ''} onChoose={() => onChange({ badge: '' })} />
        {counts.map(([badge, count]) => (
          <Choice
            key={badge}
            words={badge}
            badge={badge}
            count={count}
            isChosen={view.badge === badge}
            onChoose={() => onChange({ badge: view.badge === badge ? '' : badge })}
          />
        ))}
      </fieldset>
      <p role="status" className="off-screen">
        {found} of {total} hosts shown
      </p>
    </div>
  )
}

interface ChoiceProps {
  readonly words: string
  readonly badge?: string
  readonly count: number
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function Choice({ words, badge, count, isChosen, onChoose }: ChoiceProps) {
  return (
    <button
      type="button"
      className={styles.choice}
      aria-pressed={isChosen}
      data-kind={badge && badgeKind(badge)}
      onClick={onChoose}
    >
      {badge && <BadgeShape kind={badgeKind(badge)} />}
      {words} <span className={styles.count}>{count.toLocaleString('en')}</span>
    </button>
  )
}

interface SearchFieldProps {
  readonly search: string
  readonly onSearch: (text: string) => void
  readonly onLeave: () => void
}

/** `/` focuses the search, Esc empties it, arrow down moves to the list. */
function SearchField({ search, onSearch, onLeave }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      field.current?.select()
      field.current?.focus()
    }
    window.addEventListener('keydown', hear)
    return () => window.removeEventListener('keydown', hear)
  }, [])
  return (
    <div className={styles.search}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        className={control.control}
        aria-label="Search hosts by name or server"
        aria-keyshortcuts="/"
        placeholder="Search hosts"
        autoComplete="off"
        spellCheck={false}
        value={search}
        onChange={(event) => onSearch(event.target.value)}
        onKeyDown={(event) => {
          const isEmptied = event.key === 'Escape' && search !== ''
          if (!isEmptied && event.key !== 'ArrowDown') return
          event.preventDefault()
          if (isEmptied) onSearch('')
          else onLeave()
        }}
      />
      <kbd>/</kbd>
    </div>
  )
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, select, textarea') || target.isContentEditable)
