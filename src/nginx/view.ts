import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EdgeView } from '../edge/contract/edge.ts'
import { Fences } from '../edge/fences/fences.ts'
import type { EdgeReader } from '../edge/served.ts'
import { askEdge } from '../edge/visit/ask.ts'
import { tlsHandshake } from '../edge/visit/handshake.ts'
import { BASE_FILE } from '../estate/layout.ts'
import { newestErrorClass } from '../estate/reading/error-lines.ts'
import type { EdgeSettings } from '../estate/settings.ts'
import { parseAddress } from '../model/address.ts'
import { listHosts } from './generations/list.ts'
import { PresentGeneration } from './generations/present.ts'
import { signatureOf } from './generations/seen-files.ts'
import { loadState } from './process/loaded.ts'
import { listeningReader } from './process/neighbours.ts'

/** The read-only view of an edge on this machine. */
export function edgeView(settings: EdgeSettings, reader: EdgeReader): EdgeView {
  const { address, ports, folder, clock } = settings
  const present = new PresentGeneration(folder)
  const fences = new Fences(folder, clock)
  const listening = listeningReader(settings)
  return {
    address,
    ports,
    list: async (hosts) => ({
      generation: signatureOf(join(folder, BASE_FILE)),
      number: present.number ?? null,
      hosts: await listHosts(present, fences, { hosts, clock, listening: await listening().catch(() => settings) }),
      stray: [],
    }),
    answers: async (host, place) => {
      const match = (await reader.read()).answers(host, place)
      return match && { how: match.how, configPath: match.block.configPath, line: match.block.line }
    },
    localAddress,
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
