import type { Screen, Tone } from '../../terminal/screen.ts'
import { table } from '../../terminal/table.ts'
import { moment, shortMoment } from '../../terminal/times.ts'

export interface PlanPageView {
  readonly plans: readonly {
    readonly planId: string
    readonly state: string
    readonly host: string
    readonly createdAt: string
  }[]
  readonly nextCursor: string | null
}

const TONES: Readonly<Record<string, Tone>> = { applied: 'good', blocked: 'bad', rolled_back: 'careful' }

export function plansLines({ plans, nextCursor }: PlanPageView, screen: Screen): string[] {
  if (plans.length === 0) return ['There are no plans yet.']
  const rows = table(
    [
      { title: 'HOST', text: ({ host }) => host, flexible: true },
      {
        title: 'STATE',
        text: ({ state }) => state,
        paint: (padded, { state }) => screen.paint(TONES[state] ?? 'dim', padded),
      },
      {
        title: 'PLANNED (UTC)',
        text: ({ createdAt }) => (screen.isTerminal ? shortMoment(createdAt) : moment(createdAt)),
      },
      { title: 'PLAN', text: ({ planId }) => planId },
    ],
    plans,
    screen.columns,
  )
  return nextCursor === null ? rows : [...rows, `More: drawbridge plans --cursor ${nextCursor}`]
}
