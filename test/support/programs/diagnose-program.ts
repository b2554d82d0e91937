import { writeSync } from 'node:fs'
import { composeDiagnoser, composeDrift } from '../../../src/compose/diagnoser.ts'
import { composeEdges } from '../../../src/compose/edges.ts'
import { ZoneClients } from '../../../src/compose/zone-clients.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { EdgeTrust } from '../../../src/edge/authority/trust.ts'
import { Problem } from '../../../src/model/errors.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import { Board } from '../../../src/monitor/board.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Exposure } from '../../../src/store/ports/exposures.ts'
import type { Store } from '../../../src/store/ports/store.ts'

/**
 * Diagnoses hosts in a separate process, which a test runs without permission to write files or start programs. Input: the text
 * of a configuration, the stored exposures and the hosts as JSON. Output: host and cause of each.
 */
interface Errand {
  readonly settings: string
  readonly exposure: Exposure
  readonly plan: Plan
  readonly hosts: readonly string[]
}

const { settings, exposure, plan, hosts } = JSON.parse(process.argv[2] ?? '') as Errand
const config = readConfig(settings, '/nowhere/drawbridge.yaml', {})
const log = createLog('warn', [])
/** No edge of this program is behind an agent. */
const NO_TRUST = undefined as unknown as EdgeTrust
const edges = composeEdges(config, NO_TRUST, log, systemClock)
const books: Pick<Store, 'findExposure' | 'findPlan'> = {
  findExposure: async (host) => (host === exposure.host ? exposure : undefined),
  findPlan: async () => plan,
}
const clients = new ZoneClients(config, systemClock)
const diagnoser = composeDiagnoser(
  config,
  {
    targets: config.servers.targets,
    addresses: config.servers.addresses,
    zones: new Map(),
    edge: config.edge,
    ports: { allowed: [[1024, 65_535]], denied: [], deniedOn: {} },
    challenge: 'dns-01',
  },
  {
    reads: { ...(books as Store), unconfirmedMs: () => undefined },
    edges,
    clients,
    board: new Board(),
    drift: composeDrift(config, {
      store: books,
      edges,
      clients,
      inventory: { withFingerprint: async () => undefined },
      onSecondary: async () => undefined,
    }),
    log,
    clock: systemClock,
  },
)
for (const host of hosts) writeSync(1, `${host} ${await causeOf(host)}\n`)

/** The first diagnosis starts the thread that parses. A busy machine may need longer for that than a caller waits, so it is asked again. */
async function causeOf(host: string, attempts = 5): Promise<string> {
  try {
    return (await diagnoser.diagnose(host, { network: 'internal' })).cause.code
  } catch (error) {
    const isLate = error instanceof Problem && error.code === 'unavailable'
    if (!isLate || attempts === 1) throw error
    return causeOf(host, attempts - 1)
  }
}
