import { useEffect, useRef } from 'react'
import { BadgeShape } from '../parts/Badge.tsx'
import { badgeKind } from '../parts/badge-kind.ts'
import control from '../parts/control.module.css'
import { Icon } from '../parts/icons.tsx'
import { isTyping } from '../parts/typing.ts'
import { FilterMenu } from './FilterMenu.tsx'
import type { Filter, View } from './host-list.ts'
import styles from './Toolbar.module.css'

interface ToolbarProps {
  readonly view: View
  readonly onChange: (change: Partial<View>) => void
  readonly counts: readonly (readonly [badge: string, count: number])[]
  /** The values of each filter that is a menu. */
  readonly values: Readonly<Record<Exclude<Filter, 'badge' | 'need'>, readonly string[]>>
  readonly total: number
  readonly found: number
  /** Moves the focus from the search to the list. */
  readonly onLeave: () => void
}

export function Toolbar({ view, onChange, counts, values, total, found, onLeave }: ToolbarProps) {
  const toggled = (badge: string) =>
    view.badge.includes(badge) ? view.badge.filter((one) => one !== badge) : [...view.badge, badge]
  return (
    <div className={styles.toolbar}>
      <SearchField search={view.search} onSearch={(search) => onChange({ search })} onLeave={onLeave} />
      {MENUS.map(
        ([filter, words]) =>
          values[filter].length > 1 && (
            <FilterMenu
              key={filter}
              words={words}
              values={values[filter]}
              chosen={view[filter]}
              onChoose={(chosen) => onChange({ [filter]: chosen })}
            />
          ),
      )}
      <fieldset className={styles.badges}>
        <legend className="off-screen">Show only hosts with one of these badges</legend>
        <Choice
          words="All"
          count={total}
          isChosen={view.badge.length === 0 && view.need.length === 0}
          onChoose={() => onChange({ badge: [], need: [] })}
        />
        {counts.map(([badge, count]) => (
          <Choice
            key={badge}
            words={badge}
            badge={badge}
            count={count}
            isChosen={view.badge.includes(badge)}
            onChoose={() => onChange({ badge: toggled(badge) })}
          />
        ))}
      </fieldset>
      <p role="status" className="off-screen">
        {found} of {total} hosts shown
      </p>
    </div>
  )
}

const MENUS = [
  ['server', 'Server'],
  ['zone', 'Zone'],
  ['managed', 'Managed'],
] as const satisfies readonly (readonly [Filter, string])[]

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
