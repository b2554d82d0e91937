import type { Link } from '../api/diagnosis.ts'

/** A link of the chain, or the request through all of them. */
export interface WayLink extends Omit<Link, 'link'> {
  readonly link: Link['link'] | 'request'
}

export type LinkState = 'good' | 'warning' | 'broken' | 'unknown'

export const stateOf = ({ ok }: WayLink): LinkState => (ok === null ? 'unknown' : ok ? 'good' : 'broken')

/** If every link works alone but the request through them fails, the request is the broken link. */
export function wholeWay(chain: readonly Link[], badge: string): readonly WayLink[] {
  const way: readonly WayLink[] = chain.filter(({ link }) => link !== 'error_log')
  const isBroken = way.some((link) => stateOf(link) === 'broken')
  if (isBroken || !/^(HTTP \d|DOWN)/.test(badge)) return way
  const detail =
    badge === 'DOWN'
      ? 'Each link works alone, but a request through the edge got no answer.'
      : `Each link works alone, but a request through the edge was answered with ${badge}.`
  return [...way, { link: 'request', ok: false, detail }]
}
