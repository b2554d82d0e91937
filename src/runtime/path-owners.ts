import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A folder or a link on the way to a file, or the file itself. */
export interface PathPart {
  readonly path: string
  readonly stats: Stats
}

const MOST_LINKS = 40

/** Every folder and link on the way to a path, and the file itself, outermost first. Ends at the first part that does not exist. */
export function partsOf(path: string): readonly PathPart[] {
  const parts: PathPart[] = []
  let names = namesIn(resolve(path))
  let reached = '/'
  for (let left = MOST_LINKS; left > 0; ) {
    const stats = lstatSync(reached, { throwIfNoEntry: false })
    if (!stats) return parts
    parts.push({ path: reached, stats })
    if (stats.isSymbolicLink()) {
      names = [...namesIn(resolve(dirname(reached), readlinkSync(reached))), ...names]
      reached = '/'
      left -= 1
      continue
    }
    const [next, ...rest] = names
    if (next === undefined) return parts
    reached = join(reached, next)
    names = rest
  }
  throw new Error(`${path} has too many links.`)
}

const namesIn = (path: string): string[] => path.split('/').filter((name) => name !== '')

/** The owner of the program controls what root runs with it. */
const programOwner = (): number => lstatSync(fileURLToPath(import.meta.url)).uid

/** The first part that a user other than root, the owner of the program and `owner` could exchange or change. */
export function firstOfOthers(parts: readonly PathPart[], owner: number): PathPart | undefined {
  const trusted = [0, programOwner(), owner]
  return parts.find(({ stats }) => !trusted.includes(stats.uid) || isOpenToOthers(stats))
}

/** In a folder with the sticky bit only the owner of a file may exchange it. */
const isOpenToOthers = (stats: Stats): boolean => {
  const { mode, gid } = stats
  if (stats.isSymbolicLink() || (stats.isDirectory() && (mode & 0o1000) !== 0)) return false
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0)
}

/** Whether only root controls which file a path leads to. */
export const isRootsAlone = (path: string): boolean => firstOfOthers(partsOf(path), 0) === undefined

/** The command that takes control of a part of a path from other users. */
export const remedyFor = ({ path, stats }: PathPart): string =>
  isOpenToOthers(stats) ? `chmod go-w ${path}` : `chown -h root ${path}`
