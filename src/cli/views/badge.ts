import type { Tone } from '../../terminal/screen.ts'

/** A badge's meaning in colour, beside its word. */
export function badgeTone(badge: string): Tone {
  if (badge === 'RUNNING') return 'good'
  if (badge === 'PENDING') return 'dim'
  return badge === 'CERT' || badge === 'DRIFT' ? 'careful' : 'bad'
}
