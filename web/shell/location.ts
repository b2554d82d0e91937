import { useSyncExternalStore } from 'react'

/** The current screen, from the address of the page. */
export type Screen =
  | { readonly name: 'status'; readonly host?: string }
  | { readonly name: 'host'; readonly host: string }
  | { readonly name: 'certificates' }
  | { readonly name: 'activity' }
  | { readonly name: 'network' }
  | { readonly name: 'plan' }
  | { readonly name: 'plans' }
  | { readonly name: 'one-plan'; readonly planId: string }
  | { readonly name: 'change'; readonly planId: string }
  | { readonly name: 'help' }
  | { readonly name: 'not-found' }

const PLAIN = ['plan', 'plans', 'certificates', 'activity', 'network', 'help'] as const

export function screenAt(path: string): Screen {
  const [first = '', second, ...more] = path.replace(/\/+$/, '').split('/').slice(1)
  if (first === 'plans' && second && more.join('/') === 'change') return { name: 'change', planId: second }
  if (first === 'hosts' && second && more.join('/') === 'details') return { name: 'host', host: second.toLowerCase() }
  if (more.length > 0) return { name: 'not-found' }
  if (first === 'hosts' && second) return { name: 'status', host: second.toLowerCase() }
  if (first === 'plans' && second) return { name: 'one-plan', planId: second }
  if (second) return { name: 'not-found' }
  if (first === '') return { name: 'status' }
  const plain = PLAIN.find((name) => name === first)
  return plain ? { name: plain } : { name: 'not-found' }
}

const watchers = new Set<() => void>()
const tell = () => {
  for (const watcher of watchers) watcher()
}

/** Tells each change of the address by Back, Forward or `go`. Returns what ends it. */
export function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  window.addEventListener('popstate', watcher)
  return () => {
    watchers.delete(watcher)
    window.removeEventListener('popstate', watcher)
  }
}

export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  tell()
}

export const usePath = (): string => useSyncExternalStore(watch, () => location.pathname)

export const useSearch = (): string => useSyncExternalStore(watch, () => location.search)
