import { type RefObject, useLayoutEffect, useState, useSyncExternalStore } from 'react'

/** As in the style sheet. */
const SMALL = matchMedia('(max-width: 62rem)')
/** Rows beyond each end of what is seen. */
const BEYOND = 8

const watch = (tell: () => void) => {
  SMALL.addEventListener('change', tell)
  return () => SMALL.removeEventListener('change', tell)
}

interface Range {
  readonly first: number
  readonly last: number
}

/**
 * The rows that are drawn, each of the same height. On a small screen the page scrolls as one, elsewhere the list does in its
 * pane.
 */
export function useVisibleRows(pane: RefObject<HTMLElement | null>, count: number, height: number) {
  const isWholePage = useSyncExternalStore(watch, () => SMALL.matches)
  const [range, setRange] = useState<Range>({ first: 0, last: 40 })
  useLayoutEffect(() => {
    const element = pane.current
    if (!element) return
    const look = () => {
      const { top, seen } = seenOf(element, isWholePage)
      const first = Math.max(0, Math.floor(top / height) - BEYOND)
      const last = Math.ceil((top + seen) / height) + BEYOND
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }))
    }
    look()
    const scroller = isWholePage ? window : element
    const observer = new ResizeObserver(look)
    observer.observe(element)
    scroller.addEventListener('scroll', look, { passive: true })
    window.addEventListener('resize', look)
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', look)
      window.removeEventListener('resize', look)
    }
  }, [pane, height, isWholePage, count])
  const indexes = Array.from(
    { length: Math.max(0, Math.min(count, range.last) - range.first) },
    (_, at) => range.first + at,
  )
  return {
    indexes,
    show: (at: number) => pane.current && showRow(pane.current, isWholePage, at * height, height),
    /** The page itself stays where it is: only a list has a beginning of its own. */
    showFirst: () => {
      if (!isWholePage) pane.current?.scrollTo(0, 0)
    },
  }
}

/** How far the rows are scrolled, and how much of them is seen. */
function seenOf(element: HTMLElement, isWholePage: boolean): { top: number; seen: number } {
  if (!isWholePage) return { top: element.scrollTop, seen: element.clientHeight }
  return { top: Math.max(0, -element.getBoundingClientRect().top), seen: window.innerHeight }
}

/** Scrolls only as far as the row needs. */
function showRow(element: HTMLElement, isWholePage: boolean, rowTop: number, height: number): void {
  const { top, seen } = seenOf(element, isWholePage)
  const hidden = isWholePage ? Math.max(0, element.getBoundingClientRect().top) : 0
  const by =
    rowTop < top ? rowTop - top : rowTop + height > top + seen - hidden ? rowTop + height - top - seen + hidden : 0
  if (by !== 0) (isWholePage ? window : element).scrollBy(0, by)
}
