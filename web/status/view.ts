import { useEffect, useState } from 'react'
import { SORTS, type View, WHOLE_VIEW } from './host-list.ts'

const WRITTEN_AFTER_MS = 250

/** Reads the view from the address and writes changes back after a moment, so that the address can be shared. */
export function useView(): readonly [View, (change: Partial<View>) => void] {
  const [view, setView] = useState(() => viewIn(location.search))
  useEffect(() => {
    const back = () => setView(viewIn(location.search))
    window.addEventListener('popstate', back)
    return () => window.removeEventListener('popstate', back)
  }, [])
  useEffect(() => {
    const write = () => history.replaceState(null, '', `${location.pathname}${queryOf(view)}`)
    const timer = window.setTimeout(write, WRITTEN_AFTER_MS)
    return () => window.clearTimeout(timer)
  }, [view])
  return [view, (change) => setView((before) => ({ ...before, ...change }))]
}

function viewIn(query: string): View {
  const said = new URLSearchParams(query)
  return {
    search: said.get('search') ?? '',
    badge: said.get('badge') ?? '',
    server: said.get('server') ?? '',
    sort: SORTS.find((sort) => sort === said.get('sort')) ?? WHOLE_VIEW.sort,
    descending: said.get('order') === 'desc',
  }
}

export function queryOf({ search, badge, server, sort, descending }: View): string {
  const said = new URLSearchParams({
    ...(search && { search }),
    ...(badge && { badge }),
    ...(server && { server }),
    ...(sort !== WHOLE_VIEW.sort && { sort }),
    ...(descending && { order: 'desc' }),
  })
  return said.size === 0 ? '' : `?${said}`
}
