import { readFile } from 'node:fs/promises'
import { parseAddress } from '../model/address.ts'
import type { EdgeView } from './contract.ts'
import { hashOfFound } from './files/files.ts'
import { PresentGeneration } from './generations/present.ts'
import { loadState } from './process/loaded.ts'
import type { EdgeReader } from './reading/contract.ts'
import { newestErrorClass } from './reading/error-lines.ts'
import type { EdgeSettings } from './settings.ts'
import { askEdge } from './visit/ask.ts'
import { tlsHandshake } from './visit/handshake.ts'

/** The read-only view of an edge on this machine. */
export function edgeView(settings: EdgeSettings, reader: EdgeReader): EdgeView {
  const { address, ports, folder, clock } = settings
  const present = new PresentGeneration(folder)
  return {
    address,
    ports,
    whereIs: async (host) => present.whereIs(host),
    answers: async (host, place) => {
      const match = (await reader.read()).answers(host, place)
      return match && { how: match.how, configPath: match.block.configPath, line: match.block.line }
    },
    localAddress,
    hashFiles: async (paths) => paths.map((path) => hashOfFound(path, present.look(path))),
    visit: ({ listenAddress: { address, port }, ...question }, limitMs) =>
      askEdge({ address, ports: { http: port, https: port }, clock }, question, limitMs),
    handshake: (endpoint, host, limitMs) => tlsHandshake(endpoint, host, limitMs, clock),
    loadState: (paths) => loadState(settings, paths),
    newestErrorClass: async (host, since) => (await newestErrorClass(settings, host, since))?.errorClass ?? null,
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
