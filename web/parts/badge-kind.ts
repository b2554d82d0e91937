/** The look of a badge. Each kind has a colour, a shape and a text, so that no user depends on colour alone. */
export type BadgeKind = 'down' | 'failing' | 'http' | 'dns' | 'cert' | 'drift' | 'pending' | 'running'

const NAMED: Readonly<Record<string, BadgeKind>> = {
  RUNNING: 'running',
  DOWN: 'down',
  'NO DNS': 'dns',
  CERT: 'cert',
  DRIFT: 'drift',
  PENDING: 'pending',
}

export function badgeKind(badge: string): BadgeKind {
  const named = NAMED[badge]
  if (named) return named
  return /^HTTP 5/.test(badge) ? 'failing' : 'http'
}

const BY_SEVERITY: readonly BadgeKind[] = ['down', 'failing', 'http', 'dns', 'cert', 'drift', 'pending', 'running']

/** Worst first. */
export const severity = (badge: string): number => BY_SEVERITY.indexOf(badgeKind(badge))
