import { type RefObject, useLayoutEffect, useState } from 'react'

export type RowForm = 'wide' | 'narrow' | 'phone'

/** In rem, as in the style sheet: one line, two or three. */
const HEIGHTS: Record<RowForm, number> = { wide: 3, narrow: 4.75, phone: 6.25 }
const [NARROW, PHONE] = [62, 36]

/** The form of the rows, by the width of the list. */
export function useRowForm(pane: RefObject<HTMLElement | null>): { height: number; form: RowForm } {
  const [form, setForm] = useState<RowForm>('wide')
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  useLayoutEffect(() => {
    const element = pane.current
    if (!element) return
    const look = () => {
      const width = element.clientWidth / rem
      setForm(width < PHONE ? 'phone' : width < NARROW ? 'narrow' : 'wide')
    }
    const observer = new ResizeObserver(look)
    look()
    observer.observe(element)
    return () => observer.disconnect()
  }, [pane, rem])
  return { height: HEIGHTS[form] * rem, form }
}
