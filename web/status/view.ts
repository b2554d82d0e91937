import { useEffect, useRef, useState } from 'react'
import { FILTERS, SORTS, type View, WHOLE_VIEW } from './host-list.ts'

const WRITTEN_AFTER_MS = 250

/**
 * Reads the view from the address and writes changes back, so that the address can be shared. A filter is a step of its own for
 * Back; typing in the search is not.
 */
export function useView(): readonly [View, (change: Partial<View>) => void] {
  const [view, setView] = useState(() => viewIn(location.search))
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => {
    const back = () => {
      window.clearTimeout(timer.current)
      setView(viewIn(location.search))
    }
    window.addEventListener('popstate', back)
    return () => {
      window.clearTimeout(timer.current)
      window.removeEventListener('popstate', back)
    }
  }, [])
  const change = (changed: Partial<View>) => {
    const next = { ...view, ...changed }
    setView(next)
    const address = () => `${location.pathname}${queryOf(next)}`
    window.clearTimeout(timer.current)
    if ('search' in changed && Object.keys(changed).length === 1) {
      timer.current = window.setTimeout(() => history.replaceState(null, '', address()), WRITTEN_AFTER_MS)
    } else if (address() !== `${location.pathname}${location.search}`) history.pushState(null, '', address())
  }
  return [view, change]
}

function viewIn(query: string): View {
  const said = new URLSearchParams(query)
  const filters = FILTERS.map((filter) => [filter, said.getAll(filter)] as const)
  return {
    ...WHOLE_VIEW,
    ...Object.fromEntries(filters),
    search: said.get('search') ?? '',
    sort: SORTS.find((sort) => sort === said.get('sort')) ?? WHOLE_VIEW.sort,
    descending: said.get('order') === 'desc',
  }
}

export function queryOf({ search, sort, descending, ...view }: View): string {
  const said = new URLSearchParams([
    ...(search ? [['search', search]] : []),
    ...FILTERS.flatMap((filter) => view[filter].map((value) => [filter, value])),
    ...(sort !== WHOLE_VIEW.sort ? [['sort', sort]] : []),
    ...(descending ? [['order', 'desc']] : []),
  ])
  return said.size === 0 ? '' : `?${said}`
}
