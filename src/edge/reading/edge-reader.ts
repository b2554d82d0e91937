import { readFileSync, statSync } from 'node:fs'
import type { EdgeSettings } from '../settings.ts'
import type { EdgeMap, EdgeReader } from './contract.ts'
import { edgeMap } from './edge-map.ts'
import { readHttpBlock } from './servers/http-block.ts'
import { ConfigFiles } from './text/config-files.ts'
import { Included } from './text/included.ts'

/** Reads the configuration of an nginx from its main file on. It opens files for reading and does nothing else. */
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

/** Whoever asks while a reading is under way shares the next one: the current one may have passed by a change already. */
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

/** As whom the master runs; where none does, it would be started as ourselves. */
function isRunByRoot(pidFile: string): boolean {
  try {
    return statSync(`/proc/${Number.parseInt(readFileSync(pidFile, 'utf8'), 10)}`).uid === 0
  } catch {
    return process.getuid?.() === 0
  }
}
