import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { HostRow } from '../api/hosts.ts'
import { Icon } from '../parts/icons.tsx'
import { useNow } from '../parts/time.ts'
import { HostLine } from './HostLine.tsx'
import styles from './HostTable.module.css'
import type { Sort, View } from './host-list.ts'
import { ROW_KEYS, type RowActs } from './RowActsCell.tsx'
import { useRowForm } from './row-form.ts'
import { useVisibleRows } from './visible-rows.ts'

interface HostTableProps {
  readonly rows: readonly HostRow[]
  readonly view: View
  readonly onSort: (change: Pick<View, 'sort' | 'descending'>) => void
  /** The host whose diagnosis is open. */
  readonly open: string | undefined
  readonly query: string
  /** Undefined: this caller can select nothing. */
  readonly selected: ReadonlySet<string> | undefined
  readonly acts: RowActs
}

const COLUMNS: readonly { readonly words: string; readonly sort?: Sort }[] = [
  { words: 'Status', sort: 'badge' },
  { words: 'Host', sort: 'host' },
  { words: 'Server', sort: 'server' },
  { words: 'Certificate', sort: 'certificate' },
  { words: 'Removes itself', sort: 'expires' },
  { words: 'Since', sort: 'since' },
  { words: 'Uptime, 24 hours', sort: 'uptime' },
  { words: 'Latency', sort: 'latency' },
]

/** Draws only the visible rows. One row is in the tab order; the arrow keys change it. */
export function HostTable({ rows, view, onSort, open, query, selected, acts }: HostTableProps) {
  const pane = useRef<HTMLDivElement>(null)
  const now = useNow(10_000)
  const { height, form } = useRowForm(pane)
  const visible = useVisibleRows(pane, rows.length, height)
  const [current, setCurrent] = useState(0)
  const active = Math.min(current, rows.length - 1)

  // A new view starts at the top.
  useEffect(() => {
    setCurrent(0)
    visible.showFirst()
  }, [JSON.stringify(view)])
  // Only when another host is opened, not when it moves.
  useEffect(() => {
    const at = rows.findIndex(({ host }) => host === open)
    if (at < 0) return
    setCurrent(at)
    visible.show(at)
  }, [open])

  const onKeyDown = useRowKeys(pane, {
    active,
    rows: rows.length,
    height,
    show: (at) => {
      setCurrent(at)
      visible.show(at)
    },
  })

  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a real table cannot be placed one by one
    <div
      role="table"
      aria-label="Hosts"
      aria-rowcount={rows.length + 1}
      className={styles.table}
      data-form={form}
      data-selects={selected !== undefined}
    >
      <Header view={view} onSort={onSort} isSelecting={selected !== undefined} />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" ref={pane} className={styles.pane} onKeyDown={onKeyDown}>
        <div role="presentation" className={styles.sheet} style={{ height: rows.length * height }}>
          {visible.indexes.map((index) => {
            const row = rows[index]
            return row ? (
              <HostLine
                key={row.host}
                row={row}
                at={index}
                top={index * height}
                now={now}
                isOpen={row.host === open}
                isActive={index === active}
                isPhone={form === 'phone'}
                isSelected={selected?.has(row.host)}
                query={query}
                acts={acts}
              />
            ) : null
          })}
        </div>
      </div>
    </div>
  )
}

interface RowKeys {
  readonly active: number
  readonly rows: number
  readonly height: number
  readonly show: (at: number) => void
}

/**
 * Arrow, page, Home and End keys move the focus from row to row. A distant row is drawn later and gets the focus then. A letter
 * presses a control of the row.
 */
function useRowKeys(pane: RefObject<HTMLDivElement | null>, { active, rows, height, show }: RowKeys) {
  const awaited = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (awaited.current === undefined) return
    const link = pane.current?.querySelector<HTMLElement>(`[data-at="${awaited.current}"] a`)
    if (!link) return
    awaited.current = undefined
    link.focus({ preventScroll: true })
  })
  return (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-at]')
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const label = ROW_KEYS[event.key]
    if (label) {
      const control = row.querySelector<HTMLElement>(
        `[aria-label^="${label}"], [aria-label^="End ${label.toLowerCase()}"]`,
      )
      if (control) event.preventDefault()
      control?.click()
      return
    }
    const page = Math.max(1, Math.floor(Math.min(pane.current?.clientHeight ?? 0, window.innerHeight) / height) - 1)
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows - 1,
    }
    const to = moves[event.key]
    if (to === undefined) return
    event.preventDefault()
    const at = Math.max(0, Math.min(rows - 1, to))
    show(at)
    awaited.current = at
  }
}

type HeaderProps = Pick<HostTableProps, 'view' | 'onSort'> & { readonly isSelecting: boolean }

function Header({ view, onSort, isSelecting }: HeaderProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: a row of a table is no control
    <div role="row" className={styles.header}>
      {isSelecting && (
        // biome-ignore lint/a11y/useFocusableInteractive: it sorts nothing
        // biome-ignore lint/a11y/useSemanticElements: as above
        <span role="columnheader">
          <span className="off-screen">Select</span>
        </span>
      )}
      {COLUMNS.map(({ words, sort }) => {
        const isSorted = sort === view.sort
        const order = isSorted ? (view.descending ? 'descending' : 'ascending') : undefined
        return (
          // biome-ignore lint/a11y/useFocusableInteractive: the button in it takes the focus
          // biome-ignore lint/a11y/useSemanticElements: as above
          <span role="columnheader" key={words} aria-sort={order}>
            {sort ? (
              <button type="button" onClick={() => onSort({ sort, descending: isSorted && !view.descending })}>
                {words}
                {isSorted && <Icon name={view.descending ? 'down' : 'up'} />}
              </button>
            ) : (
              words
            )}
          </span>
        )
      })}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: it sorts nothing */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: as above */}
      <span role="columnheader" className="off-screen">
        Acts
      </span>
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: it sorts nothing */}
      {/* biome-ignore-end lint/a11y/useSemanticElements: as above */}
    </div>
  )
}
