import { join } from 'node:path'
import { GENERATIONS } from '../../edge/layout.ts'
import type { Slices } from '../../primitives/slices.ts'
import type { EdgeSettings } from '../settings.ts'
import type { Base } from './base-file.ts'
import { parseOnThread } from './parse-on-thread.ts'
import type { Question } from './parse-thread.ts'
import { namesIn, type OwnPath, ownStamp, type Parsed } from './parsed.ts'
import { isSameStamp, stampOf } from './text/config-files.ts'
import { pathKindLater } from './text/path-kind.ts'

type ParsedSettings = Pick<EdgeSettings, 'config' | 'folder' | 'clock'> & Partial<Pick<EdgeSettings, 'prefix'>>

/**
 * The configuration that nginx reads, without the gathered hosts of the edge. It is parsed again only after a change of a file
 * outside the edge's folder, or of a path in that folder that differs between generations.
 */
export class ParsedConfiguration {
  readonly #settings: ParsedSettings
  readonly #want: Question['want']
  #latest: { readonly parsed: Parsed; readonly shape: string; readonly odd: string } | undefined

  constructor(settings: ParsedSettings, want: Question['want']) {
    this.#settings = settings
    this.#want = want
  }

  /** The same object while nothing has changed. */
  async read({ generation, shape }: Base, odd: readonly string[], slices: Slices): Promise<Parsed> {
    const { config, folder, prefix, clock } = this.#settings
    const latest = this.#latest
    const isKnown = latest?.shape === shape && latest.odd === odd.join()
    if (latest && isKnown && (await this.#isUnchanged(latest.parsed, generation, slices))) return latest.parsed
    const parsed = await parseOnThread({ config, folder, prefix, generation, odd }, this.#want, clock)
    this.#latest = { parsed, shape, odd: odd.join() }
    return parsed
  }

  async #isUnchanged(
    { foreign, own, probes }: Parsed,
    generation: number | undefined,
    slices: Slices,
  ): Promise<boolean> {
    for (const [path, seen] of own) if (!isSameOwn(this.#pathOf(path, generation), seen)) return false
    for (const [path, stamp] of foreign) {
      if (!isSameStamp(stamp, stampOf(path).stamp)) return false
      if (slices.isOver) await slices.next()
    }
    for (const [path, kind] of probes) if ((await pathKindLater(path)) !== kind) return false
    return true
  }

  #pathOf(inside: string, generation: number | undefined): string {
    const { folder } = this.#settings
    return inside === '' ? folder : join(folder, GENERATIONS, String(generation), inside)
  }
}

const isSameOwn = (path: string, seen: OwnPath): boolean =>
  typeof seen === 'string' ? namesIn(path) === seen : isSameStamp(seen, ownStamp(stampOf(path).stamp))
