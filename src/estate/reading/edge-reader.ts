import { readFileSync, statSync } from 'node:fs'
import type { EdgeMap, EdgeReader } from '../../edge/served.ts'
import { NO_HOSTS, type ServedList, withChanges } from '../../edge/served-list.ts'
import { sharedNextRun } from '../../primitives/shared-run.ts'
import { Slices } from '../../primitives/slices.ts'
import type { EdgeSettings } from '../settings.ts'
import { BaseFile } from './base-file.ts'
import { edgeMap } from './edge-map.ts'
import { GatheredHostsReader } from './gathered-hosts.ts'
import type { Parsed } from './parsed.ts'
import { ParsedConfiguration } from './parsed-configuration.ts'
import { StepBudget } from './patterns/pattern.ts'
import { type ServedPatterns, servedPatterns } from './served-patterns.ts'
import { ServerIndex } from './servers/server-index.ts'

interface Reading {
  readonly parsed: Parsed
  readonly index: ServerIndex
  readonly list: ServedList
  readonly listed: ServedPatterns
  readonly fingerprint: string
  readonly map: EdgeMap
}

/**
 * Reads the configuration of an nginx, starting at its main file. It only opens files for reading. A worker thread parses the files
 * that Drawbridge did not write. The hosts of the edge's own generation are read from its lines.
 */
export function edgeReader(
  settings: Pick<EdgeSettings, 'config' | 'pidFile' | 'folder' | 'clock'> & Partial<Pick<EdgeSettings, 'prefix'>>,
): EdgeReader {
  const base = new BaseFile(settings.folder)
  const gathered = new GatheredHostsReader(settings.folder)
  const configuration = new ParsedConfiguration(settings, 'servers')
  let latest: Reading | undefined
  /** Survives a failed reading. */
  const unlisted = new Set<string>()
  const readAgain = async (): Promise<EdgeMap> => {
    const slices = new Slices(settings.clock)
    const present = base.read()
    const { gathering, changed } = await gathered.read(present.generation, slices)
    for (const host of changed) unlisted.add(host)
    const parsed = await configuration.read(present, gathering.odd, slices)
    const fingerprint = `${present.generation} ${gathering.version} ${parsed.trace.fingerprint}`
    if (latest?.parsed === parsed && latest.fingerprint === fingerprint) return latest.map
    const isKnown = latest?.parsed === parsed
    const index =
      latest && isKnown ? latest.index : await ServerIndex.build(parsed, isRunByRoot(settings.pidFile), slices)
    const { hosts } = gathering
    const budget = new StepBudget()
    const list = await withChanges(
      latest && isKnown ? latest.list : NO_HOSTS,
      isKnown ? unlisted : both(index.names(), hosts.keys()),
      (host) => index.served(host, hosts, budget),
      slices,
    )
    const listed = latest && isKnown ? latest.listed : await servedPatterns(parsed.servers, slices)
    const changedAt = Math.max(present.changedAt, gathering.changedAt, parsed.trace.changedAt)
    const { debugLogs } = parsed
    const { patterns, cut } = listed
    const broken = [...parsed.broken, ...cut]
    const map = edgeMap(index, hosts, list, { broken, debugLogs, patterns, fingerprint, changedAt })
    unlisted.clear()
    latest = { parsed, index, list, listed, fingerprint, map }
    return map
  }
  return { read: sharedNextRun(readAgain) }
}

function* both(some: Iterable<string>, others: Iterable<string>): Generator<string> {
  yield* some
  yield* others
}

/** Whether the master runs as root. Without a master, nginx would run as the user of this process. */
export function isRunByRoot(pidFile: string): boolean {
  try {
    return statSync(`/proc/${Number.parseInt(readFileSync(pidFile, 'utf8'), 10)}`).uid === 0
  } catch {
    return process.getuid?.() === 0
  }
}
