import { DnsWriteFault } from '../dns/contract.ts'
import { EdgeFault } from '../edge/contract.ts'
import { StoreUnavailable } from '../store/contract.ts'
import { StepFault } from './step.ts'

const PASSING: readonly EdgeFault['kind'][] = [
  'not_reloaded',
  'unavailable',
  'write_failed',
  'config_broken',
  'logs_keys',
]

/**
 * Whether looking again later may find it gone: a server that does not answer, an nginx that does not run or must not be
 * reloaded. What somebody else changed meanwhile does not pass.
 */
export function isPassing(fault: unknown): boolean {
  if (fault instanceof StepFault) return fault.passing || isPassing(fault.cause)
  if (fault instanceof EdgeFault) return PASSING.includes(fault.kind)
  return fault instanceof DnsWriteFault || fault instanceof StoreUnavailable
}
