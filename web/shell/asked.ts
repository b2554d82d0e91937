import { useEffect, useState } from 'react'
import { go, useSearch } from './location.ts'

/** The act that the address asks for, as `?act=mute`. It is taken out of the address, so that a reload does not ask again. */
export function useAsked<T extends string>(acts: readonly T[]): readonly [T | undefined, (act: T | undefined) => void] {
  const [asked, setAsked] = useState<T>()
  const search = useSearch()
  useEffect(() => {
    const query = new URLSearchParams(search)
    const wanted = acts.find((act) => act === query.get('act'))
    if (!wanted) return
    setAsked(wanted)
    query.delete('act')
    go(`${location.pathname}${query.size === 0 ? '' : `?${query}`}`, { replace: true })
  }, [search])
  return [asked, setAsked]
}
