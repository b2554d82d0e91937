import { escapeText } from '../../model/escape-text.ts'
import { Slices } from '../../primitives/slices.ts'
import { isWrittenByUs, releasedFolder } from '../config/layout.ts'
import { chooseSockets, type ForeignListen, type Listening, type SocketConflict } from '../config/sockets.ts'
import { EdgeFault } from '../contract.ts'
import { BaseFile } from '../reading/base-file.ts'
import { isRunByRoot } from '../reading/edge-reader.ts'
import type { Parsed } from '../reading/parsed.ts'
import { ParsedConfiguration } from '../reading/parsed-configuration.ts'
import { impliedListening } from '../reading/text/listen.ts'
import type { EdgeSettings } from '../settings.ts'

const SLICE_MS = 4

type Beside = Pick<
  EdgeSettings,
  'server' | 'config' | 'folder' | 'pidFile' | 'address' | 'listen' | 'ports' | 'named' | 'clock'
>

/**
 * Reads where the servers of the administrator listen, and chooses where ours do. It reads files again only when they have changed.
 * Rejects with `unavailable` if ours cannot listen without taking something away from theirs.
 */
export function listeningReader(settings: Beside): () => Promise<Listening> {
  const base = new BaseFile(settings.folder)
  const configuration = new ParsedConfiguration(settings, 'servers')
  let latest: { readonly parsed: Parsed; readonly chosen: ReturnType<typeof chosenFor> } | undefined
  return async () => {
    const parsed = await configuration.read(base.read(), [], new Slices(SLICE_MS, settings.clock))
    if (latest?.parsed !== parsed) latest = { parsed, chosen: chosenFor(settings, parsed) }
    const { chosen } = latest
    if ('reason' in chosen) throw conflictFault(settings.server, chosen)
    const { listen, ports, named } = settings
    return { listen, ports, sockets: chosen, ...(named && { named }) }
  }
}

function chosenFor(settings: Beside, { servers, serversBefore }: Parsed) {
  const foreign: ForeignListen[] = []
  const bound = new Map<string, boolean>()
  const isRoot = isRunByRoot(settings.pidFile)
  for (const [at, { path, line, listen }] of servers.entries()) {
    const places = (listen.length > 0 ? listen : [impliedListening(isRoot)]).filter(({ isQuic }) => !isQuic)
    if (isWrittenByUs(settings.folder, path)) {
      for (const { address, port, isDefault } of places) {
        const socket = `${address}:${port}`
        bound.set(socket, isDefault || bound.get(socket) === true)
      }
    } else if (!path.startsWith(`${releasedFolder(settings.folder)}/`))
      foreign.push(...places.map((place) => ({ ...place, path, line, isBefore: at < serversBefore })))
  }
  return chooseSockets(settings, foreign, bound)
}

const conflictFault = (server: string, { reason, fix }: SocketConflict): EdgeFault =>
  new EdgeFault('unavailable', `The hosts of edge ${server} have no place in its nginx: ${escapeText(reason)}. ${fix}`)
