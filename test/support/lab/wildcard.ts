import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { statePaths } from '../../../lab/state.ts'
import { makeCertificate } from '../edge/openssl.ts'
import type { TestLab } from './lab.ts'

/** Installs a certificate for every host of the zone, so that TLS needs no order. Returns what takes it away. */
export async function installWildcard({ state, description }: TestLab): Promise<() => void> {
  const at = (name: string) => join(statePaths(state).certificates, name)
  const [certificate, key] = [at('wildcard.pem'), at('wildcard.key')] as const
  await makeCertificate({ certificate, key, names: [`DNS:*.${description.zone}`] })
  return () => {
    for (const path of [certificate, key]) rmSync(path, { force: true })
  }
}
