import type { AcmeDirectory, CertificateInventory } from '../../certificates/contract.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

export async function examineAuthority(directory: AcmeDirectory): Promise<Finding> {
  const subject = 'authority'
  const look = await directory.look()
  if (look.kind === 'available') return ok(subject, `${directory.url} answers.`)
  const fix = 'See acme.directory and acme.caFile, and that this machine may reach it.'
  return fault(subject, `${directory.url} cannot be used: ${look.reason}.`, fix)
}

/** Files in the certificate folders that cannot be used. */
export async function examineInventory(inventory: CertificateInventory): Promise<Finding[]> {
  const subject = 'certificates'
  const passedOver = await inventory.passedOver()
  if (passedOver.length === 0) return [ok(subject, 'Every file in the certificate folders can be used.')]
  return passedOver.map(({ path, sentence }) =>
    warning(subject, `${path} is passed over. ${sentence}`, 'Replace the file, or take it out of the folder.'),
  )
}
