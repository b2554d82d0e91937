import { setTimeout as sleep } from 'node:timers/promises'
import type { Edge } from '../../edge/contract.ts'
import { Fault } from '../../model/fault.ts'

const ATTEMPTS = 3
const PAUSE_MS = 150
const AT_ONCE = 16

/** Shakes hands with the edge for each host. Rejects unless every one of them is served with this certificate. */
export async function prove(edge: Edge, hosts: readonly string[], fingerprint: string, serial: string): Promise<void> {
  for (let i = 0; i < hosts.length; i += AT_ONCE) {
    await Promise.all(hosts.slice(i, i + AT_ONCE).map((host) => proveOne(edge, host, fingerprint, serial)))
  }
}

/** One unlucky moment is no verdict. */
async function proveOne(edge: Edge, host: string, fingerprint: string, serial: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const shown = await edge.handshake(host)
    if (shown.kind === 'certificate' && shown.fingerprint === fingerprint) return
    if (attempt === ATTEMPTS) {
      const seen = shown.kind === 'certificate' ? `serial number ${shown.serial}` : 'no certificate'
      throw new Fault(`The edge ${edge.server} shows ${seen} for ${host}, not serial number ${serial}.`)
    }
    await sleep(PAUSE_MS)
  }
}
