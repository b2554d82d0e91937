import type { Assembly } from '../../main.ts'

/** The service's own parts, without its ears: for commands that act beside a running service, or without one. */
export async function withParts<T>(file: string, work: (parts: Assembly) => Promise<T>): Promise<T> {
  const { loadConfig } = await import('../../config/config.ts')
  const { assemble, secretsOf } = await import('../../main.ts')
  const { createLog } = await import('../../log.ts')
  const config = loadConfig(file, process.env)
  const parts = await assemble(config, createLog('silent', secretsOf(config)), { upgrade: false })
  return work(parts).finally(() => parts.store.close())
}
