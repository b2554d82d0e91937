import { STEPS_TO_ACCEPT, STEPS_TO_REMOVE, STEPS_TO_RENEW } from '../../src/model/run.ts'
import type { Action, Plan, RunEvent } from '../api/plans.ts'

/** One step of a run, with its undo if there was one. */
export interface StepView {
  readonly name: string
  readonly status: 'waiting' | 'running' | 'done' | 'failed'
  readonly ms: number | undefined
  readonly detail: string | undefined
}

export interface UndoView {
  readonly name: string
  readonly status: 'running' | 'undone' | 'failed'
  readonly ms: number | undefined
  readonly detail: string | undefined
}

export interface RunView {
  readonly steps: readonly StepView[]
  /** Newest first. */
  readonly undos: readonly UndoView[]
  readonly verification: RunEvent['verification']
  /** The plan's state when the run has ended. */
  readonly ended: string | undefined
  readonly hasFailed: boolean
  readonly ms: number | undefined
}

const WORDS: Readonly<Record<string, string>> = {
  check: 'Check again',
  backup: 'Back up the configuration',
  certificate: 'Get the certificate',
  proxy: 'Write and load the proxy entry',
  'proxy-tls': 'Add the certificate to the proxy entry',
  dns: 'Set the DNS record',
  verify: 'Verify on Primary and Secondary',
  tidy: 'Take unused certificate files away',
}

/** Steps that do something else in a run of this action. */
const OTHER_WORDS: Readonly<Partial<Record<Action, Readonly<Record<string, string>>>>> = {
  remove: { dns: 'Take the name out of DNS', proxy: 'Take the proxy entry away and load' },
  repair: { dns: 'Set the DNS records again', proxy: 'Write the proxy entry again and load' },
  accept: { dns: 'Take the owner mark out of DNS', proxy: 'Write the entry to a file of its own and load' },
  renew: { proxy: 'Put the certificate in place and load' },
}

export const wordsFor = (step: string, action: Action): string => OTHER_WORDS[action]?.[step] ?? WORDS[step] ?? step

/**
 * The steps of a run, in order. A plan of version 0.1 does not name those of its apply. Those of a repair depend on what is
 * damaged, so they are not known before they begin.
 */
export function expectedSteps(action: Action, { steps }: Pick<Plan, 'steps'>): readonly string[] {
  switch (action) {
    case 'remove':
      return STEPS_TO_REMOVE
    case 'accept':
      return STEPS_TO_ACCEPT
    case 'renew':
      return STEPS_TO_RENEW
    case 'repair':
      return []
    default:
      return steps
  }
}

/** `now` gives a running step its duration so far. */
export function runView(events: readonly RunEvent[], expected: readonly string[], now: number): RunView {
  const told = events.filter(({ step }) => step !== 'run')
  const names = [...new Set(told.map(({ step }) => step))]
  const ending = events.find(({ name }) => name === 'end')
  const ahead =
    ending || told.some(({ name }) => name === 'failed') ? [] : expected.filter((name) => !names.includes(name))
  const [first] = events
  const undone = told.filter(({ name }) => name === 'undoing').map(({ step }) => step)
  return {
    steps: [
      ...names.filter((name) => told.some((event) => event.step === name && event.name === 'started')),
      ...ahead,
    ].map((name) => stepView(name, told, now)),
    undos: [...new Set(undone)].map((name) => undoView(name, told, now)).filter(isWorthShowing),
    verification: told.find(({ verification }) => verification)?.verification,
    ended: ending?.state,
    hasFailed: told.some(({ name }) => name === 'failed'),
    ms: first && (ending ? Date.parse(ending.at) : now) - Date.parse(first.at),
  }
}

function stepView(name: string, told: readonly RunEvent[], now: number): StepView {
  const started = told.find((event) => event.step === name && event.name === 'started')
  const end = told.find((event) => event.step === name && (event.name === 'done' || event.name === 'failed'))
  if (!started) return { name, status: 'waiting', ms: undefined, detail: undefined }
  const status = end?.name === 'done' ? 'done' : end ? 'failed' : 'running'
  return { name, status, ms: between(started, end, now), detail: end?.detail ?? started.detail }
}

function undoView(name: string, told: readonly RunEvent[], now: number): UndoView {
  const started = told.find((event) => event.step === name && event.name === 'undoing')
  const end = told.find((event) => event.step === name && (event.name === 'undone' || event.name === 'undo_failed'))
  const status = end?.name === 'undone' ? 'undone' : end ? 'failed' : 'running'
  return { name, status, ms: started && between(started, end, now), detail: end?.detail }
}

/** Steps that change nothing have nothing to undo, so they are shown only if their undo failed. */
const CHANGE_NOTHING: readonly string[] = ['check', 'backup', 'verify', 'tidy']
const isWorthShowing = ({ name, status }: UndoView): boolean => status === 'failed' || !CHANGE_NOTHING.includes(name)

const REMEDIES: Readonly<Record<string, string>> = {
  check: 'Plan the exposure again: what the plan saw has changed.',
  certificate: 'Read the reason above. Try again when a certificate can be issued.',
  proxy: 'Run “drawbridge doctor” on the edge, correct what it reports, then try again.',
  'proxy-tls': 'Run “drawbridge doctor” on the edge, correct what it reports, then try again.',
  dns: 'Make sure that the DNS server answers and accepts updates, then try again.',
  verify: 'Make the backend answer its health path with HTTP 2xx, then try again.',
}

/** What a person can do after this step of a run failed. */
export const whatToDo = (step: string, action: Action): string =>
  action === 'remove' && step === 'verify'
    ? 'Try again.'
    : (REMEDIES[step] ?? 'Correct the reason above, then try again.')

const between = (from: RunEvent, to: RunEvent | undefined, now: number): number =>
  Math.max(0, (to ? Date.parse(to.at) : now) - Date.parse(from.at))
