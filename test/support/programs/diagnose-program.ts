import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
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
 * Diagnoses hosts in a separate process, which a test runs without permission to write files or start programs. Argument: the text
 * of a configuration and the stored exposure as JSON. Input: a host on each line. Output: the cause of each.
 */
interface Errand {
  readonly settings: string
  readonly exposure: Exposure
  readonly plan: Plan
}

const { settings, exposure, plan } = JSON.parse(process.argv[2] ?? '') as Errand
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
for await (const host of createInterface(process.stdin)) writeSync(1, `${await causeOf(host)}\n`)

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
