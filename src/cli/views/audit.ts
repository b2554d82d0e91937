import type { Screen, Tone } from '../../terminal/screen.ts'
import { moment, shortMoment, table } from '../../terminal/text.ts'

export interface AuditView {
  readonly lines: readonly {
    readonly seq: number
    readonly at: string
    readonly actor: string
    readonly action: string
    readonly outcome: string
    readonly code?: string | undefined
    readonly host?: string | undefined
  }[]
  readonly nextAfter: number | null
}

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', refused: 'careful', rolled_back: 'careful' }

export function auditLines({ lines, nextAfter }: AuditView, screen: Screen): string[] {
  if (lines.length === 0) return ['No audit lines match.']
  const rows = table(
    [
      { title: 'LINE', text: ({ seq }) => String(seq), align: 'right', drop: 1 },
      { title: 'WHEN (UTC)', text: ({ at }) => (screen.isTerminal ? shortMoment(at) : moment(at)) },
      { title: 'WHO', text: ({ actor }) => actor },
      { title: 'WHAT', text: ({ action }) => action },
      {
        title: 'OUTCOME',
        text: ({ outcome, code }) => code ?? outcome,
        paint: (padded, { outcome }) => screen.paint(TONES[outcome] ?? 'bad', padded),
      },
      { title: 'HOST', text: ({ host }) => host ?? '-', flexible: true },
    ],
    lines,
    screen.columns,
  )
  return nextAfter === null ? rows : [...rows, `More: drawbridge audit --after ${nextAfter}`]
}
