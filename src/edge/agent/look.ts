import type { NamedFinding } from '../../model/options/adoption.ts'
import { CURRENT, GENERATIONS } from '../layout.ts'
import type { EdgeMap, EdgeReader, ServedHost } from '../served.ts'
import { MOST_PLACES } from '../wire/look-shapes.ts'
import { LONGEST_DIRECTIVE, MOST_FINDINGS } from '../wire/site-shapes.ts'
import type { Answered, Asked, WireLook, WireServed } from '../wire/verbs.ts'
import type { AgentMachine } from './machine.ts'
import { hostIn, InvalidMessage } from './message.ts'

interface LookParts {
  readonly machine: AgentMachine
  /** Whether edge.yaml allows adopting hand-written sites. */
  readonly adopts: boolean
  /** The findings of doctor on this machine. */
  readonly examine: () => Promise<NonNullable<Answered<'look'>['findings']>>
}

type Look = (asked: Asked<'look'>, signal: AbortSignal) => Promise<WireLook>

/** Answers all requested looks, concurrently. */
export function looking({ machine, adopts, examine }: LookParts): Look {
  const { edge, view, reader, preflight } = machine
  const served = new ServedMaps(reader)
  return async (asked, signal) => {
    const { conflict, block, newestError, loaded, name, text, site } = asked
    const looks: Record<keyof WireLook, (() => Promise<unknown>) | undefined> = {
      served: asked.served && (() => served.since(asked.served?.since ?? null)),
      conflict: conflict && (() => preflight.check(hostIn(conflict.host), conflict.tls)),
      block: block && (async () => (await view.answers(block.host, block.place)) ?? null),
      newestError: newestError && (() => view.newestErrorClass(hostIn(newestError.host), newestError.since)),
      loaded: loaded && (() => loadState(machine, loaded)),
      name: name === undefined ? undefined : async () => (await view.localAddress(name)) ?? null,
      text: text === undefined ? undefined : async () => (await machine.show(hostIn(text))) ?? null,
      site: site && (() => findSite(machine, adopts, site)),
      valid: asked.valid && (() => edge.assertValid(signal).then(() => true)),
      noDebugLog: asked.noDebugLog && (() => edge.assertNoDebugLog().then(() => true)),
      findings: asked.findings && examine,
    }
    const told = Object.entries(looks).flatMap(([member, look]) => (look ? [look().then((one) => [member, one])] : []))
    return Object.fromEntries(await Promise.all(told)) as WireLook
  }
}

/** Only for files that nginx reads: an agent must reveal nothing about other files. */
async function loadState({ reader, view, folder }: AgentMachine, paths: readonly string[]) {
  const { hosts, broken } = await reader.read()
  const read = new Set([...hosts.map(({ configPath }) => configPath), ...broken.map(({ path }) => path)])
  const unknown = paths.find((path) => !read.has(path) && !isOwnPath(folder, path))
  if (unknown !== undefined) throw new InvalidMessage('A path is not one of the files that nginx reads.')
  return view.loadState(paths)
}

const isOwnPath = (folder: string, path: string): boolean =>
  [CURRENT, GENERATIONS].some((name) => path.startsWith(`${folder}/${name}/`)) && !path.includes('/../')

/** The hand-written site of a host that services may adopt. Disabled unless edge.yaml allows it. */
async function findSite(
  machine: AgentMachine,
  adopts: boolean,
  { host, targets }: NonNullable<Asked<'look'>['site']>,
): Promise<WireLook['site']> {
  const found = await machine.findSite(hostIn(host), targets)
  if (!found) return { kind: 'none' }
  if (!adopts) return { kind: 'off' }
  const { backend, tls, options, carried, digest, text } = found
  return {
    kind: 'site',
    ...(backend && { backend: { ...backend } }),
    tls,
    ...(options && { options: JSON.parse(JSON.stringify(options)) }),
    carried,
    changed: bounded(found.changed),
    lost: bounded(found.lost),
    refused: bounded(found.refused),
    digest,
    text,
    blocks: found.blocks.slice(0, MOST_FINDINGS).map(({ file, line }) => ({ file, line })),
  }
}

/** The last finding has the number of findings that do not fit into a message. */
function bounded(findings: readonly NamedFinding[]) {
  const left = findings.length - (MOST_FINDINGS - 1)
  const told = left > 1 ? findings.slice(0, MOST_FINDINGS - 1) : findings
  return [
    ...told.map(({ directive, sentence }) => ({ directive: directive.slice(0, LONGEST_DIRECTIVE), sentence })),
    ...(left > 1 ? [{ directive: '…', sentence: `${left} more are not told.` }] : []),
  ]
}

/** How many former maps are kept, so that several services can ask for changes. */
const KEPT = 4

/**
 * Answers what nginx reads. A caller that knows a recent map gets only the differences: most of thousands of hosts are unchanged.
 */
class ServedMaps {
  readonly #reader: EdgeReader
  #kept: EdgeMap[] = []

  constructor(reader: EdgeReader) {
    this.#reader = reader
  }

  async since(fingerprint: string | null): Promise<WireServed> {
    const map = await this.#reader.read()
    const former = this.#kept.find((one) => one.fingerprint === fingerprint)
    this.#kept = [map, ...this.#kept.filter((one) => one !== map)].slice(0, KEPT)
    const { broken, debugLogs, changedAt, patterns = [] } = map
    return {
      fingerprint: map.fingerprint,
      changedAt: Number.isFinite(changedAt) ? changedAt : null,
      whole: former === undefined,
      ...(former ? difference(former, map) : { hosts: map.hosts.map(plain), gone: [] }),
      broken: placesIn(broken),
      // One place is enough to refuse keys.
      debugLogs: debugLogs.slice(0, MOST_PLACES).map(({ path, line }) => ({ path, line })),
      patterns: [...patterns],
    }
  }
}

/** The last place has the number of places that do not fit into a message. */
function placesIn(broken: EdgeMap['broken']): WireServed['broken'] {
  const left = broken.length - (MOST_PLACES - 1)
  const some = left > 1 ? broken.slice(0, MOST_PLACES - 1) : broken
  const rest = { path: broken[0]?.path ?? '', line: null, sentence: `${left} more places are not told` }
  return [...some.map(({ path, line, sentence }) => ({ path, line, sentence })), ...(left > 1 ? [rest] : [])]
}

/** Unchanged hosts are the same objects in both maps. */
function difference(former: EdgeMap, map: EdgeMap): Pick<WireServed, 'hosts' | 'gone'> {
  if (former === map) return { hosts: [], gone: [] }
  return {
    hosts: map.hosts.filter((served) => former.find(served.host) !== served).map(plain),
    gone: former.hosts.flatMap(({ host }) => (map.find(host) ? [] : [host])),
  }
}

const plain = (served: ServedHost): WireServed['hosts'][number] => ({
  ...served,
  listen: [...served.listen],
})
