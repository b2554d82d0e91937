import { useEffect, useRef, useState } from 'react'
import { watch } from './location.ts'

const WRITTEN_AFTER_MS = 250

/** How a state is written into the query of the address and read from it. */
export interface AddressForm<T> {
  readonly read: (query: URLSearchParams) => T
  /** With the question mark, or empty. */
  readonly write: (state: T) => string
}

/**
 * Keeps a state in the address, so that the address can be shared: Back and every link to the same screen set it. A change is a
 * step of its own for Back; typing in the search is not.
 */
export function useAddressState<T extends { readonly search: string }>({
  read,
  write,
}: AddressForm<T>): readonly [T, (change: Partial<T>) => void] {
  const now = () => read(new URLSearchParams(location.search))
  const [state, setState] = useState(now)
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => {
    const stop = watch(() => {
      window.clearTimeout(timer.current)
      const next = now()
      // The same state stays the same object, so that opening a host filters no list again.
      setState((before) => (write(before) === write(next) ? before : next))
    })
    return () => {
      window.clearTimeout(timer.current)
      stop()
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
