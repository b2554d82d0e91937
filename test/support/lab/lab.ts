import { join } from 'node:path'
import type { Place } from '../../../lab/addresses.ts'
import { freePort, isPortFree } from '../../../lab/free-port.ts'
import { type Lab, type LabOptions, startLab } from '../../../lab/lab.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { poll } from '../../../src/primitives/retry.ts'
import { type Answer, type Call, call } from '../http/call.ts'
import { randomNetwork } from '../network.ts'
import { tempFolder } from '../temp-folder.ts'
import { type AgentOptions, enroll, type LabAgents, startAgents } from './agents.ts'

export interface TestLab extends Omit<Lab, 'stop'> {
  /** Calls the service, by default from the internal network. */
  call(request: Omit<Call, 'from'> & { from?: 'internal' | 'public' | string }): Promise<Answer>
  /** Stops the lab and removes its state. */
  stop(): Promise<void>
}

/** A whole lab for one test file: real BIND, nginx, Pebble and backends, with the built service unless `service` is false. */
export async function startTestLab(options: Omit<LabOptions, 'state' | 'place'> = {}): Promise<TestLab> {
  return process.env.DRAWBRIDGE_TEST_AGENTS === undefined || options.service === false
    ? startInProcess(options)
    : (await startWithAgents(options)).lab
}

/** The same with an agent for each edge: the service has nothing to do with nginx itself. */
export async function startWithAgents(
  { configure = (config) => config, ...options }: Omit<LabOptions, 'state' | 'place'> = {},
  agentOptions?: AgentOptions,
): Promise<{ lab: TestLab; agents: LabAgents }> {
  const lab = await startInProcess({ ...options, service: false })
  const agents = await startAgents(lab, agentOptions).catch(async (error) => {
    await lab.stop()
    throw error
  })
  const withAgents = {
    ...lab,
    get description() {
      return lab.description
    },
    restartService: (change = configure) => lab.restartService((config) => change(agents.configure(config))),
    stop: async () => {
      await agents.stop()
      await lab.stop()
    },
  }
  try {
    await withAgents.restartService()
    if (agentOptions?.tls) for (const agent of Object.values(agents.agents)) await enroll(lab, agent)
  } catch (error) {
    await withAgents.stop()
    throw error
  }
  return { lab: withAgents, agents }
}

const PATIENCE_MS = 60_000

/** Asks again while the service says that it is overloaded, as it asks its callers to: it is one of many on a busy machine. */
const whenNotOverloaded = (ask: () => Promise<Answer>): Promise<Answer> =>
  poll(ask, ({ status, body }) => status !== 503 || body?.detail !== 'The service is overloaded.', {
    firstMs: 250,
    withinMs: PATIENCE_MS,
    clock: systemClock,
  })

async function startInProcess(options: Omit<LabOptions, 'state' | 'place'>): Promise<TestLab> {
  const folder = tempFolder()
  const place = await freePlace()
  const lab = await startLab({ ...options, state: join(folder.path, 'lab'), place }).catch((error) => {
    folder[Symbol.dispose]()
    throw error
  })
  const { api, callers } = lab.description
  const addresses: Readonly<Record<string, string>> = callers
  return {
    state: lab.state,
    get description() {
      return lab.description
    },
    killService: (signal) => lab.killService(signal),
    setNextServiceEnvironment: (environment) => lab.setNextServiceEnvironment(environment),
    serviceRestarted: () => lab.serviceRestarted(),
    restartService: (configure) => lab.restartService(configure),
    stopService: () => lab.stopService(),
    call: ({ from = 'internal', ...request }) =>
      whenNotOverloaded(() => call(api, { ...request, from: addresses[from] ?? from })),
    async stop() {
      await lab.stop()
      folder[Symbol.dispose]()
    },
  }
}

/** Not the default place, so that tests can run while a lab runs. */
export async function freePlace(): Promise<Place> {
  const network = randomNetwork()
  if (!(await isPortFree(`${network}.23`, 8045))) return freePlace()
  return {
    network,
    dnsPorts: { primary: await freePort(), secondary: await freePort() },
    relayPorts: { outside: await freePort(), inside: await freePort() },
  }
}
