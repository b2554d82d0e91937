import { extname, join } from 'node:path'
import { type Backend, urlOf } from './addresses.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { httpStatus } from './web-question.ts'

/** Starts all sample backends in one separate process. */
export function startBackends(backends: readonly Backend[], logFile: string): Promise<Daemon> {
  const program = join(import.meta.dirname, `backend-program${extname(import.meta.filename)}`)
  const listeners = backends.map(({ server, address, port, healthStatus }) =>
    [server, address, port, healthStatus].join(','),
  )
  return startDaemon({
    name: 'The sample backends',
    program: process.execPath,
    args: [program, ...listeners],
    logFile,
    isReady: async () =>
      (await Promise.all(backends.map((backend) => httpStatus(urlOf(backend))))).every((status) => status === 200),
  })
}
