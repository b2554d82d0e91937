import type { Screen } from './location.ts'

interface Place {
  readonly to: string
  readonly words: string
  readonly screens: readonly Screen['name'][]
  readonly isInside?: boolean
}

const PLACES: readonly Place[] = [
  { to: '/', words: 'Status', screens: ['status', 'host'] },
  { to: '/network', words: 'Network', screens: ['network'] },
  { to: '/certificates', words: 'Certificates', screens: ['certificates'] },
  { to: '/plan', words: 'Expose', screens: ['plan', 'change'] },
  { to: '/plans', words: 'Plans', screens: ['plans', 'one-plan'], isInside: true },
  { to: '/activity', words: 'Activity', screens: ['activity'], isInside: true },
  { to: '/help', words: 'Help', screens: ['help'] },
]

/** The screens of a caller, in the order of the navigation. */
export const placesFor = (network: 'internal' | 'public' | undefined): readonly Place[] =>
  PLACES.filter(({ isInside }) => isInside !== true || network === 'internal')
