import type { HostRow } from '../api/hosts.ts'
import type { Policy } from '../api/policy.ts'
import type { IconName } from '../parts/icons.tsx'
import { placesFor } from '../shell/places.ts'

/** Something that can be gone to or done, by its name. */
export interface Entry {
  readonly words: string
  readonly icon: IconName
  /** An address of this page, or of a host. */
  readonly to: string
  readonly isElsewhere?: boolean
  readonly badge?: string
}

/** Hosts whose acts are listed. Of all others only the name is. */
const MOST_WITH_ACTS = 5
const MOST = 12

/** The acts of a host. Each is a place: the page of the host asks before it does something. */
const ACTS: readonly {
  readonly verb: string
  readonly icon: IconName
  readonly right?: Policy['caller']['may'][number]
  readonly to: (row: HostRow) => string | undefined
}[] = [
  { verb: 'Diagnose', icon: 'pulse', to: ({ host }) => `/hosts/${host}` },
  { verb: 'Details of', icon: 'next', to: ({ host }) => `/hosts/${host}/details` },
  { verb: 'Open', icon: 'out', to: ({ url }) => url },
  { verb: 'Change', icon: 'pen', right: 'apply', to: ({ planId }) => planId && `/plans/${planId}/change` },
  { verb: 'Plan of', icon: 'next', right: 'apply', to: ({ planId }) => planId && `/plans/${planId}` },
  { verb: 'Extend', icon: 'again', right: 'apply', to: actOf('extend', ({ expiresAt }) => expiresAt !== null) },
  { verb: 'Maintenance of', icon: 'pen', right: 'apply', to: actOf('maintenance') },
  { verb: 'Mute', icon: 'bell', right: 'apply', to: ({ host }) => `/hosts/${host}/details?act=mute` },
  {
    verb: 'Renew',
    icon: 'lock',
    right: 'renew',
    to: ({ host, tls, planId }) => (tls && planId ? `/certificates?renew=${host}` : undefined),
  },
  { verb: 'Remove', icon: 'cross', right: 'remove', to: ({ planId }) => planId && `/plans/${planId}?act=remove` },
]

function actOf(act: string, fits: (row: HostRow) => boolean = () => true) {
  return (row: HostRow) => (row.planId && fits(row) ? `/hosts/${row.host}/details?act=${act}` : undefined)
}

/** What fits the text, best first: screens, hosts, and the acts of hosts that the text names. */
export function entriesFor(text: string, rows: readonly HostRow[], policy: Policy | undefined): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const screens: Entry[] = [
    { words: 'Expose a service', icon: 'plus', to: '/plan' },
    ...placesFor(policy?.caller.network)
      .filter(({ to }) => to !== '/plan')
      .map((place): Entry => ({ words: place.words, icon: 'next', to: place.to })),
  ]
  if (words.length === 0) return screens
  const verbs = ACTS.filter(({ right }) => right === undefined || policy?.caller.may.includes(right))
  const hosts = found(
    rows,
    words,
    verbs.map(({ verb }) => verb.toLowerCase().split(' ')),
  )
  const ofHosts = hosts.slice(0, MOST_WITH_ACTS).flatMap((row) =>
    verbs.flatMap(({ verb, icon, to }): readonly Entry[] => {
      const place = to(row)
      if (place === undefined) return []
      return [{ words: `${verb} ${row.host}`, icon, to: place, isElsewhere: place === row.url, badge: row.badge }]
    }),
  )
  const fits = (entry: Entry) => words.every((word) => entry.words.toLowerCase().includes(word))
  const others = hosts
    .slice(MOST_WITH_ACTS)
    .map(({ host, badge }): Entry => ({ words: `Diagnose ${host}`, icon: 'pulse', to: `/hosts/${host}`, badge }))
  return [...screens.filter(fits), ...ofHosts.filter(fits), ...others.filter(fits)].slice(0, MOST)
}

/**
 * The hosts whose names have all words but those of one verb: `main` is the name of a host in “mute main”, and begins a verb. A
 * name that begins with the text comes before one that only has it in it.
 */
function found(
  rows: readonly HostRow[],
  words: readonly string[],
  verbs: readonly (readonly string[])[],
): readonly HostRow[] {
  const isOfOneVerb = (others: readonly string[]) =>
    verbs.some((verb) => others.every((word) => verb.some((part) => part.startsWith(word))))
  const first: HostRow[] = []
  const second: HostRow[] = []
  for (const row of rows) {
    const name = words.find((word) => row.host.includes(word))
    if (name === undefined || !isOfOneVerb(words.filter((word) => !row.host.includes(word)))) continue
    if (row.host.startsWith(name)) first.push(row)
    else second.push(row)
  }
  return [...first, ...second].slice(0, MOST + MOST_WITH_ACTS)
}
