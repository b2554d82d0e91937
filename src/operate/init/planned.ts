import { lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { agentFileBeside, renderAgentConfig, renderConfig, type Setup } from './files.ts'
import type { NewFile } from './writing.ts'

/** Drawbridge's own files, as they are planned. */
interface Planned {
  readonly missing: readonly NewFile[]
  /** The paths of those that are there as they should be. */
  readonly kept: readonly string[]
}

/** Throws if another file is in the place of one. */
export function planFiles(setup: Setup, secret: string, file: string): Planned {
  const planned = ownFiles(setup, secret, file)
  const there = planned.filter(({ path }) => isThere(path))
  assertNotInTheWay(there.filter((one) => !isAsPlanned(one)).map(({ path }) => path))
  return { missing: planned.filter((one) => !there.includes(one)), kept: there.map(({ path }) => path) }
}

function ownFiles(setup: Setup, secret: string, file: string): NewFile[] {
  const texts: readonly (readonly [string, string | undefined])[] = [
    [setup.caFile, setup.acme.ca],
    [file, renderConfig(setup, file)],
    [agentFileBeside(dirname(file)), setup.agentSocket === undefined ? undefined : renderAgentConfig(setup)],
  ]
  return [
    { path: setup.keyFile, before: null, after: `${secret}\n`, mode: 0o600, secret: true },
    ...texts.flatMap(([path, after]) =>
      after === undefined ? [] : [{ path, before: null, after, mode: 0o644, secret: false }],
    ),
  ]
}

/** Also true for a link that leads nowhere: no file can be created there. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** A key that is there already is kept, and so is a file that has the wanted text. */
function isAsPlanned({ path, after, secret }: NewFile): boolean {
  try {
    return secret || readFileSync(path, 'utf8') === after
  } catch {
    return false
  }
}

function assertNotInTheWay(paths: readonly string[]): void {
  if (paths.length === 0) return
  const [be, differ, them] = paths.length > 1 ? ['are', 'differ', 'them'] : ['is', 'differs', 'it']
  throw new Error(
    `${paths.join(' and ')} ${be} there already and ${differ} from what init would write. Nothing was written. ` +
      `Move ${them} away, and call init again.`,
  )
}
