import { type RefObject, useLayoutEffect, useState } from 'react'

/** In rem, as in the style sheet. */
const [ONE_LINE, TWO_LINES] = [3, 4.75]
const NARROWER_THAN = 62

/** The height of a row: two lines on a narrow screen. */
export function useRowHeight(pane: RefObject<HTMLElement | null>): { height: number; isNarrow: boolean } {
  const [isNarrow, setIsNarrow] = useState(false)
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  useLayoutEffect(() => {
    const element = pane.current
    if (!element) return
    const look = () => setIsNarrow(element.clientWidth < NARROWER_THAN * rem)
    const observer = new ResizeObserver(look)
    look()
    observer.observe(element)
    return () => observer.disconnect()
  }, [pane, rem])
  return { height: (isNarrow ? TWO_LINES : ONE_LINE) * rem, isNarrow }
}
