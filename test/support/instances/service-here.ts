import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { statePaths, writeFileAtomically } from '../../../lab/state.ts'
import { assemble } from '../../../src/compose/assemble.ts'
import { readConfig } from '../../../src/config/config.ts'
import { secretsOf } from '../../../src/config/secrets.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { TestLab } from '../lab/lab.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reaches into a configuration of any form
type Loose = any

/**
 * A service of this process in the place of the lab's own, which is stopped, with its state folder and a change of its
 * configuration file. To assemble it takes a tenth of the time that a process takes to start. It has no loops: no duty is done by itself.
 */
export async function serviceHere(
  lab: TestLab,
  change: (config: Loose) => void = () => undefined,
): Promise<AsyncDisposable> {
  const { config: file } = statePaths(lab.state)
  const usual = readFileSync(file, 'utf8')
  const changed = parse(usual)
  change(changed)
  writeFileAtomically(file, stringify(changed), 0o600)
  const service = await serving(file)
  return {
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      writeFileAtomically(file, usual, 0o600)
    },
  }
}

/** The same with a configuration file as it stands. */
export async function serving(file: string): Promise<AsyncDisposable> {
  const config = readConfig(readFileSync(file, 'utf8'), file, {})
  const service = await assemble(config, createLog('silent', secretsOf(config)))
  await service.housekeeping.begin()
  await service.app.listen({ host: config.listen.address, port: config.listen.port })
  return {
    async [Symbol.asyncDispose]() {
      await service.app.close()
      await service.trail.finish(Date.now())
      await service.store.close()
    },
  }
}
