import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

export async function examineAuthority(directory: AcmeDirectory): Promise<Finding> {
  const subject = 'authority'
  const state = await directory.read()
  if (state.kind === 'available') return ok(subject, `${directory.url} answers.`)
  const fix = 'See acme.directory and acme.caFile, and that this machine may reach it.'
  return fault(subject, `${directory.url} cannot be used: ${state.reason}.`, fix)
}

/** Files in the certificate folders that cannot be used, or soon cannot any more. */
export async function examineInventory(inventory: CertificateInventory, now: number): Promise<Finding[]> {
  const subject = 'certificates'
  const found = await inventory.findings(now)
  if (found.length === 0) return [ok(subject, 'Every file in the certificate folders can be used.')]
  return found.map(({ path, sentence }) =>
    warning(subject, `${path}: ${sentence}`, 'Replace the file, or take it away.'),
  )
}
