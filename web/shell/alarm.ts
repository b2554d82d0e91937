import { useEffect } from 'react'
import { useHosts } from '../api/hosts.ts'
import { useNow } from '../parts/time.ts'
import { alarmCount } from '../status/attention.ts'

const CALM = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href

/** Shows the number of the sentence above the list in the title and the icon of the page. */
export function useAlarm(): void {
  const now = useNow(10_000)
  const count = alarmCount(useHosts().data?.rows ?? [], now)
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon && CALM) icon.href = count === 0 ? CALM : `data:image/svg+xml,${encodeURIComponent(drawing(count))}`
    const mark = () => {
      const bare = document.title.replace(/^\(\d+\) /, '')
      const wanted = count === 0 ? bare : `(${count}) ${bare}`
      if (document.title !== wanted) document.title = wanted
    }
    mark()
    // Each screen sets its own title.
    const watcher = new MutationObserver(mark)
    watcher.observe(document.head, { childList: true, subtree: true, characterData: true })
    return () => watcher.disconnect()
  }, [count])
}

const drawing = (count: number): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#b01d1d"/><text x="16" y="23" font-family="sans-serif" font-size="${count > 99 ? 13 : 19}" font-weight="700" text-anchor="middle" fill="#fff">${count > 99 ? '99+' : count}</text></svg>`
