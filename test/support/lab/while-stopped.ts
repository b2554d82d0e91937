import type { ServiceConfig } from '../../../lab/service-config.ts'
import type { TestLab } from './lab.ts'

/** Stops the service, does the work, and starts it again. */
export async function whileStopped<T>(
  lab: TestLab,
  work: () => Promise<T>,
  configure?: (config: ServiceConfig) => ServiceConfig,
): Promise<T> {
  await lab.stopService()
  const done = await work()
  await lab.restartService(configure)
  return done
}
