import type { Act, DiagnosedAct } from '../api/diagnosis.ts'
import type { Difference } from '../api/drift.ts'
import type { Policy } from '../api/policy.ts'

/** The right that each act needs. */
const RIGHTS: Record<Act, Policy['caller']['may'][number]> = {
  repair: 'repair',
  overwrite: 'repair',
  accept: 'accept',
  renew: 'renew',
}

/** The acts that this caller may do. */
export const allowedActs = (acts: readonly DiagnosedAct[], { caller }: Pick<Policy, 'caller'>): readonly Act[] =>
  acts.filter((act) => act !== 'resolve').filter((act) => caller.may.includes(RIGHTS[act]))

export const LABELS: Record<Act, string> = {
  repair: 'Repair',
  overwrite: 'Overwrite and repair',
  accept: 'Accept',
  renew: 'Renew certificate',
}

const placeIn = ({ field, server }: Difference): string => (server === undefined ? field : `${field} on edge ${server}`)

/** What a repair does in the files that hosts share on an edge. */
const besides = (differences: readonly Difference[]): readonly string[] =>
  differences.some(({ part }) => part === 'entry')
    ? [
        'In files that hosts share, only the lines of this host are written. If such a file is gone, its other hosts get their lines back, too.',
      ]
    : []

const VERIFIED = 'Then the host is verified on the Primary. If any step fails, everything is put back.'

/** What an act does, in sentences for the person who confirms it. */
export function deedsOfAct(act: Act, host: string, differences: readonly Difference[]): readonly string[] {
  const missing = differences.filter(({ overwrite }) => !overwrite)
  const again = missing.map((difference) => `${placeIn(difference)} is written again as it was applied.`)
  switch (act) {
    case 'repair':
      return [...again, ...besides(missing), VERIFIED]
    case 'overwrite':
      return [
        ...differences
          .filter(({ overwrite }) => overwrite)
          .map((difference) => `${placeIn(difference)} is overwritten. What somebody changed there is lost.`),
        ...again,
        ...besides(differences),
        VERIFIED,
      ]
    case 'accept':
      return [
        `${host} stays on the air. Its records and what it serves are not changed.`,
        'Its owner mark goes out of DNS, and its entry is written once to a file outside the folder of Drawbridge.',
        'Drawbridge no longer manages it: nobody renews its certificate or removes it when it expires.',
      ]
    case 'renew':
      return [
        'A new certificate is ordered within the order budget, or a newer one from the certificate folders is used.',
        'Every host with the same certificate gets the new one without a gap. Until then the old one is served.',
      ]
  }
}

/** Enough of a hash to see that two differ. */
export const shortHash = (text: string): string => text.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]{52}$/, '$1…')
