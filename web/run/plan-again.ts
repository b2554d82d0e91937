import type { Hosts } from '../api/hosts.ts'
import type { Plan } from '../api/plans.ts'

interface FormAgain {
  readonly to: string
  /** The form there that gets the values of the plan. Undefined: no form makes such a plan. */
  readonly form?: string
}

/**
 * Where a plan that is over is made again. A change needs the plan whose place it takes: the one that holds the host now, which the
 * list of hosts tells to callers inside.
 */
export function formToPlanAgain(
  { host, state, request }: Pick<Plan, 'host' | 'state' | 'request'>,
  list: Pick<Hosts, 'rows' | 'isWhole'> | undefined,
): FormAgain {
  const plain = { to: '/plan', form: 'plan' }
  if (state === 'removed') return plain
  if (request.adopt) return { to: `/hosts/${host}/details` }
  if (request.replaces === undefined) return plain
  const row = list?.rows.find((one) => one.host === host)
  if (list?.isWhole && !row) return plain
  const former = row?.planId ?? request.replaces
  return { to: `/plans/${former}/change`, form: `change ${former}` }
}
