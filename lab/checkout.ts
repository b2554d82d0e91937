import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of this checkout. Works from the sources and from dist/. */
export function checkout(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'bin', 'drawbridge'))) folder = dirname(folder)
  return folder
}

export const launcher = (): string => join(checkout(), 'bin', 'drawbridge')
