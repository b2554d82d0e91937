import { type RefObject, useLayoutEffect, useState } from 'react'

/** In rem, as the style sheet has them. */
const [ONE_LINE, TWO_LINES] = [3, 4.75]
const NARROWER_THAN = 58

/** How high a row is: where there is no room for all columns it has two lines. */
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
