import type { EdgeMap, Rival, ServedMap } from '../../edge/served.ts'
import type { ServedList } from '../../edge/served-list.ts'
import type { GatheredHosts, ServerIndex } from './servers/server-index.ts'
import { fitsHashTable } from './text/written-names.ts'

type Facts = Pick<ServedMap, 'broken' | 'debugLogs' | 'patterns' | 'fingerprint' | 'changedAt'>

export function edgeMap(index: ServerIndex, own: GatheredHosts, { hosts, byName }: ServedList, facts: Facts): EdgeMap {
  return {
    ...facts,
    hosts,
    find: (host) => byName.get(canonicalHost(host)),
    answers: (host, place) => index.answers(canonicalHost(host), place, own),
    rivals(host, isOwn, { address, port }) {
      const { same, nearer } = index.answersNear(canonicalHost(host), address, port, own)
      // On the socket of the host's own block only an equal name conflicts, because wildcards and patterns lose to it. A long name
      // is a pattern itself, and loses to them. On a more specific socket any block conflicts.
      const isRival = same && (same.how === 'exact' || (same.how !== 'default' && !fitsHashTable(canonicalHost(host))))
      const beside: Rival[] = isRival ? [same] : []
      return [...beside, ...nearer].filter(({ block }) => !isOwn(block.configPath))
    },
  }
}

const canonicalHost = (host: string): string => host.toLowerCase().replace(/\.$/, '')
