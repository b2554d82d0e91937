import type { Slices } from '../primitives/slices.ts'
import type { ServedHost } from './served.ts'

/** All served hosts. */
export interface ServedList {
  /** Sorted by name. */
  readonly hosts: readonly ServedHost[]
  readonly byName: ReadonlyMap<string, ServedHost>
}

export const NO_HOSTS: ServedList = { hosts: [], byName: new Map() }

/** The list after some hosts have changed. A list of ten thousand hosts is not sorted again for each change. */
export async function withChanges(
  { hosts, byName }: ServedList,
  changed: Iterable<string>,
  served: (host: string) => ServedHost | undefined,
  slices: Slices,
): Promise<ServedList> {
  const now = new Map(byName)
  const sorted: ServedHost[][] = [[]]
  const names = new Set<string>()
  for (const name of changed) {
    if (names.has(name)) continue
    names.add(name)
    const host = served(name)
    if (host) now.set(name, host)
    else now.delete(name)
    const run = sorted.at(-1)
    if (host) run?.push(host)
    if (run && run.length >= RUN) sorted.push([])
    if (slices.isOver) await slices.next()
  }
  for (const run of sorted) {
    run.sort((a, b) => (a.host < b.host ? -1 : 1))
    if (slices.isOver) await slices.next()
  }
  let runs = [...sorted, hosts.filter(({ host }) => !names.has(host))].filter((run) => run.length > 0)
  while (runs.length > 1) {
    const longer: ServedHost[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], slices))
      if (slices.isOver) await slices.next()
    }
    runs = longer
  }
  return { hosts: runs[0] ?? [], byName: now }
}

const RUN = 256

async function merged(
  left: readonly ServedHost[],
  right: readonly ServedHost[],
  slices: Slices,
): Promise<ServedHost[]> {
  const all: ServedHost[] = []
  let at = 0
  for (const host of left) {
    for (let other = right[at]; other && other.host < host.host; other = right[at]) {
      all.push(other)
      at += 1
    }
    all.push(host)
    if (all.length % RUN === 0 && slices.isOver) await slices.next()
  }
  for (; at < right.length; at += 1) {
    const host = right[at]
    if (host) all.push(host)
    if (at % RUN === 0 && slices.isOver) await slices.next()
  }
  return all
}
