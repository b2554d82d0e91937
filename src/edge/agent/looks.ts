import type { EdgeMap, EdgeReader, ServedHost } from '../served.ts'
import { MOST_PLACES } from '../wire/shapes.ts'
import type { WireLook } from '../wire/verbs.ts'

/** How many former maps are kept, so that several services can ask for what has changed. */
const KEPT = 4

/** Tells what nginx reads. Whoever knows a recent map gets the differences: thousands of hosts stay as they are. */
export class Looks {
  readonly #reader: EdgeReader
  #kept: EdgeMap[] = []

  constructor(reader: EdgeReader) {
    this.#reader = reader
  }

  async since(fingerprint: string | null): Promise<WireLook> {
    const map = await this.#reader.read()
    const former = this.#kept.find((one) => one.fingerprint === fingerprint)
    this.#kept = [map, ...this.#kept.filter((one) => one !== map)].slice(0, KEPT)
    const { broken, debugLogs, changedAt, patterns = [] } = map
    return {
      fingerprint: map.fingerprint,
      changedAt: Number.isFinite(changedAt) ? changedAt : null,
      whole: former === undefined,
      ...(former ? difference(former, map) : { hosts: map.hosts.map(plain), gone: [] }),
      broken: told(broken),
      // One is enough to refuse keys.
      debugLogs: debugLogs.slice(0, MOST_PLACES).map(({ path, line }) => ({ path, line })),
      patterns: [...patterns],
    }
  }
}

/** What does not fit into a message is counted in its last place. */
function told(broken: EdgeMap['broken']): WireLook['broken'] {
  const left = broken.length - (MOST_PLACES - 1)
  const some = left > 1 ? broken.slice(0, MOST_PLACES - 1) : broken
  const rest = { path: broken[0]?.path ?? '', line: null, sentence: `${left} more places are not told` }
  return [...some.map(({ path, line, sentence }) => ({ path, line, sentence })), ...(left > 1 ? [rest] : [])]
}

/** Hosts that stay as they are are the same objects. */
function difference(former: EdgeMap, map: EdgeMap): Pick<WireLook, 'hosts' | 'gone'> {
  if (former === map) return { hosts: [], gone: [] }
  return {
    hosts: map.hosts.filter((served) => former.find(served.host) !== served).map(plain),
    gone: former.hosts.flatMap(({ host }) => (map.find(host) ? [] : [host])),
  }
}

const plain = (served: ServedHost): WireLook['hosts'][number] => ({
  ...served,
  listen: [...served.listen],
})
