import { readFileSync, statSync } from 'node:fs'
import type { EdgeSettings } from '../settings.ts'
import type { EdgeMap, EdgeReader } from './contract.ts'
import { edgeMap } from './edge-map.ts'
import { readHttpBlock } from './servers/http-block.ts'
import { ConfigFiles } from './text/config-files.ts'
import { Included } from './text/included.ts'

/** Reads the configuration of an nginx, starting at its main file. It only opens files for reading. */
export function edgeReader({ config, pidFile }: Pick<EdgeSettings, 'config' | 'pidFile'>): EdgeReader {
  const files = new ConfigFiles()
  let latest: EdgeMap | undefined
  const readAgain = async (): Promise<EdgeMap> => {
    if (latest && (await files.isUnchanged())) return latest
    files.begin()
    const included = new Included(files, config)
    latest = edgeMap(await readHttpBlock(included), included, isRunByRoot(pidFile), files.trace())
    files.end()
    return latest
  }
  return { read: shareNextRun(readAgain) }
}

/** Callers during a run share the next run: the current run may have read a file before it changed. */
function shareNextRun<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting: Promise<T> | undefined
  const begin = (): Promise<T> => {
    waiting = undefined
    return work()
  }
  return () => {
    waiting ??= last.then(begin, begin)
    last = waiting
    return waiting
  }
}

/** Whether the master runs as root. Without a master, nginx would run as the user of this process. */
function isRunByRoot(pidFile: string): boolean {
  try {
    return statSync(`/proc/${Number.parseInt(readFileSync(pidFile, 'utf8'), 10)}`).uid === 0
  } catch {
    return process.getuid?.() === 0
  }
}
