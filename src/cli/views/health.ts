import type { Screen } from '../../terminal/screen.ts'
import { pairs } from '../../terminal/text.ts'
import { moment, until } from '../../terminal/times.ts'
import { badgeTone } from './badge.ts'
import type { HostView } from './status.ts'

export interface HealthView extends HostView {
  readonly lastCheck: {
    readonly at: string
    readonly ok: boolean
    readonly httpStatus: number | null
    readonly latencyMs: number | null
    readonly reason: string | null
  } | null
  readonly configPath: string | null
  readonly planId?: string | undefined
}

export function healthLines(health: HealthView, screen: Screen, now: number): string[] {
  const { host, badge, lastCheck, certificate, expiresAt, planId } = health
  return [
    `${screen.paint('strong', host)}  ${screen.paint(badgeTone(badge), badge)}`,
    ...pairs(
      [
        ['last check', lastCheck === null ? 'none yet' : checkText(lastCheck)],
        ['server', health.server ?? 'not told'],
        ['made here', health.managed ? `yes${planId === undefined ? '' : `, by ${planId}`}` : 'no'],
        ['file', health.configPath ?? 'none'],
        ...(certificate ? ([['certificate', `valid until ${until(certificate.notAfter, now)}`]] as const) : []),
        ...(expiresAt === null ? [] : ([['removes itself', until(expiresAt, now)]] as const)),
      ],
      screen.columns,
    ),
  ]
}

function checkText({ at, httpStatus, latencyMs, reason }: NonNullable<HealthView['lastCheck']>): string {
  const answer = httpStatus === null ? `no answer (${reason ?? 'unknown'})` : `HTTP ${httpStatus}`
  return `${answer}${latencyMs === null ? '' : ` in ${latencyMs} ms`}, ${moment(at)} UTC`
}
