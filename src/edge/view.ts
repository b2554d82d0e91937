import { join } from 'node:path'
import { askEdge } from './ask.ts'
import type { EdgeView } from './contract.ts'
import { lookAt } from './files.ts'
import { shakeHands } from './handshake.ts'
import { hostFile, parsePath } from './layout.ts'
import { loadState } from './loaded.ts'
import { localAddress } from './local-address.ts'
import type { EdgeSettings } from './settings.ts'

/** The eyes of an edge on this machine, without hands. */
export function edgeView(settings: EdgeSettings): EdgeView {
  const { address, ports, folder } = settings
  return {
    address,
    ports,
    hostPath: (host) => join(folder, hostFile(host)),
    localAddress,
    look: (paths) =>
      Promise.all(
        paths.map((path) => {
          parsePath(path)
          return lookAt(folder, path)
        }),
      ),
    visit: ({ door, ...question }, limitMs) =>
      askEdge({ address: door.address, ports: { http: door.port, https: door.port } }, question, limitMs),
    handshake: (door, host, limitMs) => shakeHands(door, host, limitMs),
    loadState: (paths) => loadState(settings, paths),
  }
}
