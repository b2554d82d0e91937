import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of this checkout, found from the sources as from what was built of them. */
export function checkout(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'bin', 'drawbridge'))) folder = dirname(folder)
  return folder
}

export const launcher = (): string => join(checkout(), 'bin', 'drawbridge')
