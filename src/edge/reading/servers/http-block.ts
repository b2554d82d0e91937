import type { Included, Located } from '../text/included.ts'
import { draftServer, variableName } from '../text/server-draft.ts'
import type { ServerDraft } from '../text/statements.ts'
import type { HttpContext } from './proxying.ts'
import { ValueMap } from './value-map.ts'

/** The servers, upstreams and maps of the http block. */
export interface HttpBlock extends HttpContext {
  readonly servers: readonly ServerDraft[]
}

/** Reading a large configuration yields to the event loop after this time. */
const SLICE_MS = 10

export async function readHttpBlock(included: Included): Promise<HttpBlock> {
  const servers: ServerDraft[] = []
  const upstreams = new Map<string, readonly string[]>()
  const maps = new Map<string, ValueMap>()
  let sliceEndsAt = performance.now() + SLICE_MS
  for (const block of included.main()) {
    if (block.name !== 'http') continue
    for (const statement of included.in(block)) {
      const { name, args } = statement
      if (name === 'server') servers.push(...serverOf(statement, included))
      else if (name === 'upstream') upstreams.set((args[0] ?? '').toLowerCase(), upstreamServers(statement, included))
      else if (name === 'map') maps.set(variableName(args[1]), new ValueMap(statement, included))
      if (performance.now() < sliceEndsAt) continue
      await new Promise(setImmediate)
      sliceEndsAt = performance.now() + SLICE_MS
    }
  }
  return { servers, upstreams, maps, resolved: new Map() }
}

function serverOf(statement: Located, included: Included): ServerDraft[] {
  const { draft, block, path } = statement
  if (draft) return [draft]
  return block ? [draftServer(statement, path, (inner) => included.in(inner))] : []
}

/** Backup servers only when there are no others. */
function upstreamServers(upstream: Located, included: Included): string[] {
  const servers = [...included.in(upstream)].filter(({ name, args }) => name === 'server' && !args.includes('down'))
  const first = servers.filter(({ args }) => !args.includes('backup'))
  return (first.length > 0 ? first : servers).map(({ args }) => args[0] ?? '')
}
