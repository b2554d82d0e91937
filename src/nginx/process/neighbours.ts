import { join } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { BrokenPlace } from '../../edge/served.ts'
import { BASE_FILE, isWrittenByUs, releasedFolder } from '../../estate/layout.ts'
import { BaseFile } from '../../estate/reading/base-file.ts'
import { isRunByRoot } from '../../estate/reading/edge-reader.ts'
import type { Parsed } from '../../estate/reading/parsed.ts'
import { ParsedConfiguration } from '../../estate/reading/parsed-configuration.ts'
import { impliedListening } from '../../estate/reading/text/listen.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { escapeText } from '../../model/escape-text.ts'
import { Slices } from '../../primitives/slices.ts'
import { sharedIn } from '../config/render-base.ts'
import {
  chooseSockets,
  type ForeignListen,
  type Listening,
  type OwnSockets,
  presentSockets,
  type SocketConflict,
} from '../config/sockets.ts'
import { http2Reader } from './nginx-build.ts'

type Beside = Pick<
  EdgeSettings,
  'server' | 'config' | 'folder' | 'binary' | 'pidFile' | 'address' | 'listen' | 'ports' | 'named' | 'clock'
>

/**
 * Reads where the administrator's servers listen, and chooses where our servers listen. It reads files again only when they have
 * changed. Our servers stay where they are while a part of the configuration is not read. Rejects with `unavailable` if they cannot
 * listen without taking visitors from the administrator's, or if nobody knows that.
 */
export function listeningReader(settings: Beside): () => Promise<Listening> {
  const base = new BaseFile(settings.folder)
  const configuration = new ParsedConfiguration(settings, 'servers')
  const hasHttp2 = http2Reader(settings.binary, settings.clock)
  let latest: { readonly parsed: Parsed; readonly chosen: OwnSockets | SocketConflict } | undefined
  return async () => {
    const { shape, ...present } = base.read()
    const parsed = await configuration.read({ shape, ...present }, [], new Slices(settings.clock))
    if (latest?.parsed !== parsed) latest = { parsed, chosen: chosenFor(settings, parsed, sharedIn(shape)) }
    const { chosen } = latest
    if ('reason' in chosen) throw conflictFault(settings.server, chosen)
    const { listen, ports, named } = settings
    return { listen, ports, sockets: chosen, hasHttp2: await hasHttp2(), ...(named && { named }) }
  }
}

/**
 * `shared`: the sockets that we shared when the base file was written. Undefined: a server of ours is alone if it has
 * `default_server`.
 */
function chosenFor(
  settings: Beside,
  { servers, serversBefore, hidesListens }: Parsed,
  shared: ReadonlySet<string> | undefined,
): OwnSockets | SocketConflict {
  const foreign: ForeignListen[] = []
  const bound = new Map<string, boolean>()
  /** Those of the base file. */
  const present = new Map<string, boolean>()
  /** Sockets whose first server is not ours. */
  const led = new Set<string>()
  // nginx may read an administrator's file in our folder before the base file.
  const own = servers.findIndex(({ path }) => isWrittenByUs(settings.folder, path))
  const base = own < 0 ? serversBefore : own
  const isRoot = isRunByRoot(settings.pidFile)
  for (const [at, { path, line, listen }] of servers.entries()) {
    const places = (listen.length > 0 ? listen : [impliedListening(isRoot)]).filter(({ isQuic }) => !isQuic)
    if (isWrittenByUs(settings.folder, path)) {
      for (const { address, port, isDefault } of places) {
        const socket = `${address}:${port}`
        const isAlone = shared ? !shared.has(socket) && !led.has(socket) : isDefault
        for (const sockets of path === join(settings.folder, BASE_FILE) ? [bound, present] : [bound])
          sockets.set(socket, isAlone || sockets.get(socket) === true)
      }
    } else if (!path.startsWith(`${releasedFolder(settings.folder)}/`)) {
      for (const { address, port } of places) led.add(`${address}:${port}`)
      foreign.push(...places.map((place) => ({ ...place, path, line, isBefore: at < base })))
    }
  }
  const chosen = chooseSockets(settings, foreign, bound)
  if (!hidesListens || 'reason' in chosen) return chosen
  return presentSockets(settings, present) ?? unknownPlaces(hidesListens)
}

const unknownPlaces = ({ path, line, sentence }: BrokenPlace): SocketConflict => ({
  reason: `it is not known where all its servers listen, because a part of its configuration is not read (${path}${line === null ? '' : `, line ${line}`}: ${sentence})`,
  fix: 'Let Drawbridge read it, or remove its include.',
})

const conflictFault = (server: string, { reason, fix }: SocketConflict): EdgeFault =>
  new EdgeFault('unavailable', `The hosts of edge ${server} have no place in its nginx: ${escapeText(reason)}. ${fix}`)
