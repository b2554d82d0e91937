import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessNone } from '../../edge/faults.ts'
import { BASE_FILE } from '../layout.ts'
import { isSameStamp, type Stamp, stampOf } from './text/config-files.ts'

export interface Base {
  /** The number of the present generation. Undefined if there is none. */
  readonly generation: number | undefined
  /** The text without the generation's number: equal for all generations with the same settings. */
  readonly shape: string
  readonly changedAt: number
}

/** The file of the edge that nginx includes. It is read again only when it has changed. */
export class BaseFile {
  readonly #path: string
  #latest: { readonly stamp: Stamp; readonly base: Base } | undefined

  constructor(folder: string) {
    this.#path = join(folder, BASE_FILE)
  }

  /** Throws an EdgeFault if the file cannot be read: nobody knows which generation nginx includes. */
  read(): Base {
    const { stamp } = stampOf(this.#path)
    if (!this.#latest || !isSameStamp(this.#latest.stamp, stamp)) {
      const text = unlessNone(this.#path, () => readFileSync(this.#path, 'utf8'), '')
      const base = { generation: generationIn(text), shape: withoutNumber(text), changedAt: Math.floor(stamp.ctimeMs) }
      this.#latest = { stamp, base }
    }
    return this.#latest.base
  }
}

/** The number of the generation that a base file includes. Undefined for a file that is not ours. */
export function generationIn(base: string): number | undefined {
  const number = /^# Made by Drawbridge: generation (\d+)\. /.exec(base)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** The text of a base file without the generation's number: equal for all generations with the same settings. */
export const withoutNumber = (base: string): string =>
  base
    .replace(/^# Made by Drawbridge: generation \d+/, '# Made by Drawbridge')
    .replaceAll(/(?<=\/generations\/)\d+(?=\/)/g, 'N')
