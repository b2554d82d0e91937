import type { Screen, Tone } from '../../terminal/screen.ts'

export interface StepView {
  readonly name: string
  readonly status: string
  readonly ms?: number | undefined
  readonly detail?: string | undefined
}

/** What a step does, by its name in a run. */
const TITLES: Readonly<Record<string, string>> = {
  check: 'look again at backend, name, certificate and edge',
  backup: "keep the edge's files as they stand",
  certificate: 'certificate',
  proxy: 'nginx, tested and reloaded',
  'proxy-tls': 'nginx with HTTPS, tested and reloaded',
  dns: 'DNS name',
  verify: 'verify on the Primary',
}

export const titleOf = (step: string): string => TITLES[step] ?? step

const SIGNS: Readonly<Record<string, readonly [sign: string, tone: Tone]>> = {
  done: ['✔', 'good'],
  failed: ['✖', 'bad'],
  undone: ['↩', 'careful'],
  undo_failed: ['✖', 'bad'],
}

export function stepLine({ name, status, ms, detail }: StepView, screen: Screen): string {
  const [sign, tone] = SIGNS[status] ?? ['·', 'dim']
  const undone = status.startsWith('undo') ? ', put back' : ''
  const time = ms === undefined ? '' : screen.paint('dim', ` ${Math.round(ms)} ms`)
  return `  ${screen.paint(tone, sign)} ${titleOf(name)}${undone}${time}${detail === undefined ? '' : `: ${detail}`}`
}
