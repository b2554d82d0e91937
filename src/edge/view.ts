import { readFile } from 'node:fs/promises'
import { parseAddress } from '../model/address.ts'
import type { EdgeView } from './contract.ts'
import { hashOfFound } from './files/files.ts'
import { PresentGeneration } from './generations/present.ts'
import { loadState } from './process/loaded.ts'
import type { EdgeSettings } from './settings.ts'
import { askEdge } from './visit/ask.ts'
import { tlsHandshake } from './visit/handshake.ts'

/** The read-only view of an edge on this machine. */
export function edgeView(settings: EdgeSettings): EdgeView {
  const { address, ports, folder } = settings
  const present = new PresentGeneration(folder)
  return {
    address,
    ports,
    whereIs: (host) => present.whereIs(host),
    localAddress,
    hashFiles: async (paths) => paths.map((path) => hashOfFound(path, present.look(path))),
    visit: ({ listenAddress: { address, port }, ...question }, limitMs) =>
      askEdge({ address, ports: { http: port, https: port } }, question, limitMs),
    handshake: tlsHandshake,
    loadState: (paths) => loadState(settings, paths),
  }
}

const HOSTS_FILE = '/etc/hosts'

async function localAddress(name: string): Promise<string | undefined> {
  const lines = (await readFile(HOSTS_FILE, 'utf8').catch(() => '')).split('\n')
  const line = lines
    .map((text) => text.replace(/#.*/, '').trim().split(/\s+/))
    .find(([, ...names]) => names.includes(name))
  return parseAddress(line?.[0] ?? '')
}
