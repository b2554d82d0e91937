import type { Screen, Tone } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { stateTone } from './status.ts'

export interface DiagnosisView {
  readonly host: string
  readonly badge: string
  readonly configPath: string | null
  readonly configLine: number | null
  readonly proxyPass: string | null
  readonly server: string | null
  readonly chain: readonly { readonly link: string; readonly ok: boolean | null; readonly detail: string }[]
  readonly cause: {
    readonly code: string
    readonly level: string
    readonly sentence: string
    readonly advice: string
  }
  readonly tookMs: number
}

/** The names of the links, in order from the visitor to the backend. */
const NAMES: Readonly<Record<string, string>> = {
  dns: 'DNS name',
  edge: 'edge',
  tls: 'TLS',
  server_block: 'server block',
  proxy_pass: 'proxy_pass',
  backend_tcp: 'backend port',
  backend_health: 'backend health',
  error_log: 'error log',
}
const NAME_WIDTH = Math.max(...Object.values(NAMES).map((name) => name.length)) + 2

/** Draws the chain from the visitor to the backend, then prints the cause and the advice. */
export function diagnosisLines(diagnosis: DiagnosisView, screen: Screen): string[] {
  const { host, badge, chain, cause, configPath, configLine, proxyPass, server, tookMs } = diagnosis
  const place = configPath === null ? [] : [`${configPath}${configLine === null ? '' : `:${configLine}`}`]
  const target = proxyPass ?? (server === null ? undefined : `server ${server}`)
  return [
    `${screen.paint('strong', host)}  ${screen.paint(toneOf(diagnosis), badge)}`,
    ...[...place, ...(target === undefined ? [] : [`proxies to ${target}`])].map((line) => `  ${line}`),
    '',
    '  visitor',
    ...chain.flatMap((link) => ['  │', ...linkLines(link, screen)]),
    '',
    ...hanging('Cause:  ', 8, `${cause.sentence} (${cause.code})`, screen.columns),
    ...hanging('Advice: ', 8, cause.advice, screen.columns),
    screen.paint('dim', `Diagnosed in ${tookMs} ms. Nothing was changed.`),
  ]
}

function toneOf({ badge, cause }: DiagnosisView): Tone {
  if (cause.level === 'warning') return 'careful'
  return stateTone({ badge, blocked: cause.code === 'blocked' })
}

const SIGNS: readonly { readonly ok: boolean | null; readonly sign: string; readonly tone: Tone }[] = [
  { ok: true, sign: '✔', tone: 'good' },
  { ok: false, sign: '✖', tone: 'bad' },
  { ok: null, sign: '?', tone: 'dim' },
]

function linkLines({ link, ok, detail }: DiagnosisView['chain'][number], screen: Screen): string[] {
  const { sign, tone } = SIGNS.find((one) => one.ok === ok) ?? { sign: '?', tone: 'dim' as const }
  const head = `  ${screen.paint(tone, sign)} ${(NAMES[link] ?? link).padEnd(NAME_WIDTH)}`
  const [first = '', ...further] = hanging(head, 4 + NAME_WIDTH, detail, screen.columns)
  return [first, ...further.map((line) => line.replace(/^ {2} /, '  │'))]
}
