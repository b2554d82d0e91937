import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Place } from '../lab/addresses.ts'
import type * as labModule from '../lab/lab.ts'
import type { Lab } from '../lab/lab.ts'
import type { ServiceConfig } from '../lab/service-config.ts'
import { benchConfig } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { applyAndRemove } from './concurrent.ts'
import { oneByOne, planned } from './exposures.ts'
import type { Sizes } from './sizes.ts'
import { makeWildcard } from './wildcard.ts'

/** Milliseconds by measure. */
export type Figures = Map<string, number[]>

/** A built version of Drawbridge on a network of its own, with a few hosts on the air. */
export class Side {
  readonly figures: Figures = new Map()
  readonly #lab: Lab
  readonly #callers: readonly Caller[]

  private constructor(lab: Lab, callers: number) {
    this.#lab = lab
    this.#callers = Array.from({ length: callers }, () => new Caller(lab.description))
  }

  /** `root`: its checkout. It starts its own network: another version may know another one. */
  static async start(root: string, place: Place, state: string, { hosts, runs }: Sizes['apply']): Promise<Side> {
    const built = pathToFileURL(join(root, 'dist/lab/lab.js')).href
    const { startLab } = (await import(built)) as typeof labModule
    const lab = await startLab({ state, place, service: false })
    try {
      await makeWildcard(lab.description.zone, join(state, 'certificates'))
      await lab.restartService(benchConfig)
      const side = new Side(lab, Math.max(...runs))
      for (let at = 0; at < hosts; at += 1) await (await planned(side.#first, lab.description, `host-${at}`)).apply()
      return side
    } catch (error) {
      await lab.stop()
      throw error
    }
  }

  get #first(): Caller {
    const [first] = this.#callers
    if (!first) throw new Error('Nobody calls.')
    return first
  }

  /** One after the other, each after a pause. */
  async singles(certificate: 'wildcard' | 'own', turn: number, size: Pick<Sizes['apply'], 'rounds' | 'warmUp'>) {
    const prefix = `${certificate}-${turn}`
    const { apply, remove } = await oneByOne(this.#first, this.#lab.description, { prefix, ...size })
    if (certificate === 'own') return this.#add('own certificate, one', apply)
    this.#add('one apply', apply)
    this.#add('one remove', remove)
  }

  async burst(certificate: 'wildcard' | 'own', turn: number, runs: number): Promise<void> {
    const callers = this.#callers.slice(0, runs)
    const prefix = `${certificate}-${runs}-${turn}`
    const { apply, remove } = await applyAndRemove(callers, this.#lab.description, prefix)
    const refused = apply.refused + remove.refused
    if (refused > 0) throw new Error(`${refused} of ${runs} applies and removes at once were refused.`)
    if (certificate === 'own') return this.#add(`own certificate, ${runs} at once`, [apply.ms])
    this.#add(`${runs} applies at once`, [apply.ms])
    this.#add(`${runs} removes at once`, [remove.ms])
  }

  /** From now on no wildcard certificate covers a new host. */
  orderEach(): Promise<void> {
    return this.#lab.restartService((config: ServiceConfig) => ({ ...benchConfig(config), certificates: [] }))
  }

  async stop(): Promise<void> {
    for (const caller of this.#callers) caller.close()
    await this.#lab.stop()
  }

  #add(measure: string, ms: readonly number[]): void {
    this.figures.set(measure, [...(this.figures.get(measure) ?? []), ...ms])
  }
}

/** Measures all sides in turns, so that a machine that becomes slower does so for all of them. `between`: what is measured beside them. */
export async function measureSides(
  sides: readonly Side[],
  { turns, rounds, warmUp, runs }: Sizes['apply'],
  between: (turn: number) => Promise<void> = async () => undefined,
): Promise<void> {
  for (const certificate of ['wildcard', 'own'] as const) {
    if (certificate === 'own') for (const side of sides) await side.orderEach()
    const atOnce = certificate === 'own' ? runs.slice(-1) : runs
    for (let turn = 0; turn < turns; turn += 1) {
      for (const side of sides) await side.singles(certificate, turn, { rounds, warmUp: turn === 0 ? warmUp : 1 })
      for (const count of atOnce) for (const side of sides) await side.burst(certificate, turn, count)
      if (certificate === 'wildcard') await between(turn)
    }
  }
}
