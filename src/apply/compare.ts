import type { FileHash } from '../edge/contract.ts'
import type { Exposure } from '../store/contract.ts'
import { inUse } from './renewal/in-use.ts'
import { appliedFiles } from './steps.ts'

/**
 * The Primary's files of an exposure, as they were applied. While a certificate is being replaced its files are left out:
 * they are neither what was applied nor anybody's edit.
 */
export function filesToCompare(exposure: Exposure, isOfCertificate: (path: string) => boolean): readonly FileHash[] {
  const isReplacing = inUse(exposure)?.intent !== undefined
  return appliedFiles(exposure.receipt).filter(({ path }) => !(isReplacing && isOfCertificate(path)))
}
