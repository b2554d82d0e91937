import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { HostRow } from '../api/hosts.ts'
import { Icon } from '../parts/icons.tsx'
import { useNow } from '../parts/time.ts'
import { HostLine } from './HostLine.tsx'
import styles from './HostTable.module.css'
import type { Sort, View } from './host-list.ts'
import { useRowHeight } from './row-height.ts'

interface HostTableProps {
  readonly rows: readonly HostRow[]
  readonly view: View
  readonly onSort: (change: Pick<View, 'sort' | 'descending'>) => void
  /** The host whose diagnosis is open. */
  readonly open: string | undefined
  readonly query: string
}

const COLUMNS: readonly { readonly words: string; readonly sort?: Sort }[] = [
  { words: 'Status', sort: 'badge' },
  { words: 'Host', sort: 'host' },
  { words: 'Server', sort: 'server' },
  { words: 'Certificate', sort: 'certificate' },
  { words: 'Expires', sort: 'expires' },
  { words: 'For', sort: 'since' },
  { words: 'Uptime, 24 hours', sort: 'uptime' },
  { words: 'Latency', sort: 'latency' },
]

/** Draws only the visible rows. One row is in the tab order; the arrow keys change it. */
export function HostTable({ rows, view, onSort, open, query }: HostTableProps) {
  const pane = useRef<HTMLDivElement>(null)
  const now = useNow(10_000)
  const { height, isNarrow } = useRowHeight(pane)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => pane.current,
    estimateSize: () => height,
    overscan: 8,
  })
  const [current, setCurrent] = useState(0)
  const active = Math.min(current, rows.length - 1)

  // A new row height needs a new measurement.
  useEffect(() => virtual.measure(), [height])
  // A new view starts at the top.
  useEffect(() => {
    setCurrent(0)
    virtual.scrollToOffset(0)
  }, [JSON.stringify(view)])
  // Only when another host is opened, not when it moves.
  useEffect(() => {
    const at = rows.findIndex(({ host }) => host === open)
    if (at < 0) return
    setCurrent(at)
    virtual.scrollToIndex(at)
  }, [open])

  const onKeyDown = useArrowKeys(pane, {
    active,
    rows: rows.length,
    height,
    show: (at) => {
      setCurrent(at)
      virtual.scrollToIndex(at)
    },
  })

  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a real table cannot be placed one by one
    <div
      role="table"
      aria-label="Hosts"
      aria-rowcount={rows.length + 1}
      className={styles.table}
      data-narrow={isNarrow}
    >
      <Header view={view} onSort={onSort} />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" ref={pane} className={styles.pane} onKeyDown={onKeyDown}>
        <div role="presentation" className={styles.sheet} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]
            return row ? (
              <HostLine
                key={row.host}
                row={row}
                at={index}
                top={start}
                now={now}
                isOpen={row.host === open}
                isActive={index === active}
                query={query}
              />
            ) : null
          })}
        </div>
      </div>
    </div>
  )
}

interface ArrowKeys {
  readonly active: number
  readonly rows: number
  readonly height: number
  readonly show: (at: number) => void
}

/** Arrow, page, Home and End keys move the focus from row to row. A distant row is drawn later and gets the focus then. */
function useArrowKeys(pane: RefObject<HTMLDivElement | null>, { active, rows, height, show }: ArrowKeys) {
  const awaited = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (awaited.current === undefined) return
    const link = pane.current?.querySelector<HTMLElement>(`[data-at="${awaited.current}"] a`)
    if (!link) return
    awaited.current = undefined
    link.focus({ preventScroll: true })
  })
  return (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((pane.current?.clientHeight ?? 0) / height) - 1)
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows - 1,
    }
    const to = moves[event.key]
    if (to === undefined || !(event.target as HTMLElement).matches('[data-at] a')) return
    event.preventDefault()
    const at = Math.max(0, Math.min(rows - 1, to))
    show(at)
    awaited.current = at
  }
}

function Header({ view, onSort }: Pick<HostTableProps, 'view' | 'onSort'>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: a row of a table is no control
    <div role="row" className={styles.header}>
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
    </div>
  )
}
