import { hostname } from 'node:os'
import type { ListenPlace } from './contract.ts'
import { canonicalAddress, type Listening } from './listen.ts'
import { NameIndex } from './name-index.ts'
import { translatePattern } from './name-pattern.ts'
import type { ServerDraft } from './server-draft.ts'

/** One address and port, and the servers that share it. */
export interface Socket {
  readonly address: string
  readonly port: number | null
  isTls: boolean
  isDual: boolean
  defaultServer: ServerDraft
  hasChosenDefault: boolean
  readonly names: NameIndex<ServerDraft>
}

/** All places where an nginx listens. A visitor reaches one of them, and only the servers there can answer. */
export class Sockets {
  readonly #sockets = new Map<string, Socket>()

  /** In the order of the configuration. */
  add(server: ServerDraft, listen: readonly Listening[]): void {
    const patterns = server.names.filter((name) => name.startsWith('~')).map(patternOf)
    for (const place of listen) {
      const socket = this.#socketOf(place, server)
      for (const name of server.names.length > 0 ? server.names : ['']) {
        if (!name.startsWith('~')) socket.names.add(plainName(name), server)
      }
      for (const pattern of patterns) if (pattern) socket.names.addPattern(pattern, server)
    }
  }

  all(): IterableIterator<Socket> {
    return this.#sockets.values()
  }

  /** A socket for one address comes before one for all of them, whatever names they serve. */
  at(address: string, port: number): Socket | undefined {
    const canonical = canonicalAddress(address)
    const everywhere = this.#sockets.get(`[::]:${port}`)
    if (canonical.startsWith('[')) return this.#sockets.get(`${canonical}:${port}`) ?? everywhere
    return (
      this.#sockets.get(`${canonical}:${port}`) ??
      this.#sockets.get(`*:${port}`) ??
      (everywhere?.isDual ? everywhere : undefined)
    )
  }

  /** The places of a server, as its sockets turned out. */
  placesOf(server: ServerDraft, listen: readonly Listening[]): ListenPlace[] {
    return listen
      .map(({ address, port }) => this.#sockets.get(`${address}:${port}`))
      .filter((socket) => socket !== undefined)
      .map((socket) => placeOf(socket, server))
  }

  #socketOf({ address, port, isTls, isDual, isDefault }: Listening, server: ServerDraft): Socket {
    const key = `${address}:${port}`
    const socket: Socket = this.#sockets.get(key) ?? {
      address,
      port,
      isTls,
      isDual,
      defaultServer: server,
      hasChosenDefault: false,
      names: new NameIndex(),
    }
    this.#sockets.set(key, socket)
    socket.isTls ||= isTls
    socket.isDual ||= isDual
    if (isDefault && !socket.hasChosenDefault) {
      socket.defaultServer = server
      socket.hasChosenDefault = true
    }
    return socket
  }
}

export const placeOf = ({ address, port, isTls, defaultServer }: Socket, server: ServerDraft): ListenPlace => ({
  address,
  port,
  tls: isTls,
  defaultServer: defaultServer === server,
})

const plainName = (name: string): string => (name === '$hostname' ? hostname() : name).toLowerCase()

/** A pattern with a capital letter in it is compared without case, as nginx does. */
export const patternOf = (name: string): RegExp | undefined => translatePattern(name.slice(1), /[A-Z]/.test(name))
