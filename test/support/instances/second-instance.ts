import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import { type Daemon, startDaemon } from '../../../lab/daemon.ts'
import { statePaths } from '../../../lab/state.ts'
import { httpStatus } from '../../../lab/web-question.ts'
import { call } from '../http/call.ts'
import type { TestLab } from '../lab/lab.ts'

export interface SecondInstance extends AsyncDisposable {
  readonly daemon: Daemon
  readonly stateDir: string
  readonly call: TestLab['call']
}

/** A second service process on the PostgreSQL store and the agents of a lab, with its own address and state folder. */
export async function startSecondInstance(lab: TestLab): Promise<SecondInstance> {
  const { folder, config } = statePaths(lab.state)
  const { api, callers } = lab.description
  const address = new URL(api).hostname.replace(/\d+$/, '24')
  const origin = `http://${address}:${new URL(api).port}`
  const configFile = join(folder, 'second.yaml')
  const stateDir = join(folder, 'second')
  const listen = { address, port: Number(new URL(api).port) }
  const first = parse(readFileSync(config, 'utf8'))
  const storeKeyFile = join(first.stateDir, 'store.key')
  writeFileSync(configFile, stringify({ ...first, listen, stateDir, storeKeyFile }), { mode: 0o600 })
  const daemon = await startDaemon({
    name: 'The second instance',
    program: process.execPath,
    args: [launcher(), 'serve', '--config', configFile],
    logFile: join(folder, 'second.log'),
    isReady: async () => (await httpStatus(`${origin}/readyz`)) === 200,
  })
  const addresses: Readonly<Record<string, string>> = callers
  return {
    daemon,
    stateDir,
    call: ({ from = 'internal', ...request }) => call(origin, { ...request, from: addresses[from] ?? from }),
    [Symbol.asyncDispose]: () => daemon.stop(),
  }
}
