import { useEffect, useRef, useState } from 'react'

const WRITTEN_AFTER_MS = 250

/** How a state is written into the query of the address and read from it. */
export interface AddressForm<T> {
  readonly read: (query: URLSearchParams) => T
  /** With the question mark, or empty. */
  readonly write: (state: T) => string
}

/**
 * Keeps a state in the address, so that the address can be shared. A change is a step of its own for Back; typing in the search is
 * not.
 */
export function useAddressState<T extends { readonly search: string }>({
  read,
  write,
}: AddressForm<T>): readonly [T, (change: Partial<T>) => void] {
  const now = () => read(new URLSearchParams(location.search))
  const [state, setState] = useState(now)
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => {
    const back = () => {
      window.clearTimeout(timer.current)
      setState(now())
    }
    window.addEventListener('popstate', back)
    return () => {
      window.clearTimeout(timer.current)
      window.removeEventListener('popstate', back)
    }
  }, [])
  const change = (changed: Partial<T>) => {
    const next = { ...state, ...changed }
    setState(next)
    const address = () => `${location.pathname}${write(next)}`
    window.clearTimeout(timer.current)
    if ('search' in changed && Object.keys(changed).length === 1) {
      timer.current = window.setTimeout(() => history.replaceState(null, '', address()), WRITTEN_AFTER_MS)
    } else if (address() !== `${location.pathname}${location.search}`) history.pushState(null, '', address())
  }
  return [state, change]
}
