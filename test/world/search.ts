import type { History } from './command.ts'
import { Play } from './play.ts'
import { PromiseBroken } from './promises.ts'
import type { Removal, Template } from './stores.ts'
import { HOSTS, hostOf, type InstanceName, nameOf, World } from './world.ts'

/** A history that breaks a promise: what happened, line by line. */
export interface Counterexample {
  readonly promise: string
  readonly detail: string
  readonly lines: readonly string[]
  readonly history: History
}

/** Plays a history, and finds the promise that it breaks. */
export async function findBroken(
  history: History,
  template: Template,
  removal: Removal = {},
): Promise<Counterexample | undefined> {
  const world = await World.open(template, removal)
  const play = new Play(world)
  try {
    await play.play(history)
    return undefined
  } catch (error) {
    if (!(error instanceof PromiseBroken)) throw error
    return { promise: error.promise, detail: error.message, lines: play.lines, history }
  } finally {
    await world.close()
  }
}

/** How the runs of a history ended: host, action and state. It has to leave them the time. */
export async function endsOf(history: History, template: Template): Promise<readonly string[]> {
  const world = await World.open(template)
  try {
    await new Play(world).play(history)
    const runs = await Promise.all(HOSTS.map((name) => world.store.runsOfHost(hostOf(name))))
    return runs.flat().map(({ host, action, state }) => `${nameOf(host)} ${action} ${state}`)
  } finally {
    await world.close()
  }
}

/** The points that an instance passes from the last command of a history on. */
export async function pointsOf(history: History, by: InstanceName, template: Template): Promise<readonly string[]> {
  const world = await World.open(template)
  const play = new Play(world)
  try {
    await play.begin(history.slice(0, -1))
    const passed: string[] = []
    const service = world.services.get(by)
    if (service) service.process.passed = passed
    await play.goOn(history.slice(-1))
    return passed
  } finally {
    await world.close()
  }
}

/** Leaves out one command after the other, as long as the same promise is broken. */
export async function shorten(found: Counterexample, template: Template): Promise<Counterexample> {
  for (const i of found.history.keys()) {
    const shorter = await findBroken(found.history.toSpliced(i, 1), template)
    if (shorter?.promise === found.promise) return shorten(shorter, template)
  }
  return found
}

/** What happened, line by line, and how to play it again. */
export const describeCounterexample = ({ promise, detail, lines, history }: Counterexample, seed?: number): string =>
  [
    `Broken: ${promise} (${detail}).`,
    ...lines.map((line) => `  ${line}`),
    JSON.stringify(history),
    ...(seed === undefined ? [] : [`Again: SEED=${seed} COUNT=1 npm run campaign -- test/world`]),
  ].join('\n')
