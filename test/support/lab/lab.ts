import { join } from 'node:path'
import type { Place } from '../../../lab/addresses.ts'
import { freePort, isPortFree } from '../../../lab/free-port.ts'
import { type Lab, type LabOptions, startLab } from '../../../lab/lab.ts'
import { type Answer, type Call, call } from '../http/call.ts'
import { randomNetwork } from '../network.ts'
import { tempFolder } from '../temp-folder.ts'

export interface TestLab extends Omit<Lab, 'stop'> {
  /** Calls the service, by default from the internal network. */
  call(request: Omit<Call, 'from'> & { from?: 'internal' | 'public' | string }): Promise<Answer>
  /** Stops the lab and removes its state. */
  stop(): Promise<void>
}

/** A whole lab for one test file: real BIND, nginx, Pebble and backends, with the built service unless `service` is false. */
export async function startTestLab(options: Omit<LabOptions, 'state' | 'place'> = {}): Promise<TestLab> {
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
    call: ({ from = 'internal', ...request }) => call(api, { ...request, from: addresses[from] ?? from }),
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
