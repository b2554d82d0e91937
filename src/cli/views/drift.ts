import type { Drift } from '../../client/bodies.ts'
import type { DrawbridgeClient } from '../../client/client.ts'
import { UsageError } from '../../terminal/declare.ts'
import { planIdOf } from '../plan-of.ts'

interface Compared extends Drift {
  readonly host: string
}

/** Compares one host, or with `all` every host that Drawbridge exposes. */
export async function readDrifts(
  api: DrawbridgeClient,
  host: string | undefined,
  all: boolean,
): Promise<readonly Compared[]> {
  const drifts: Compared[] = []
  for (const plan of await comparedPlans(api, host, all))
    drifts.push({ ...(await api.drift(plan.planId)), host: plan.host })
  return drifts
}

async function comparedPlans(
  api: DrawbridgeClient,
  host: string | undefined,
  all: boolean,
): Promise<readonly { readonly planId: string; readonly host: string }[]> {
  if (host !== undefined && !all) return [{ planId: await planIdOf(api, host), host }]
  if (host !== undefined || !all) throw new UsageError('Name a host, or pass --all to compare every exposure.')
  const { hosts } = await api.allHosts()
  return hosts.flatMap(({ planId, host: name }) => (planId === undefined ? [] : [{ planId, host: name }]))
}

/** One line per difference, or one sentence per host without any. */
export const driftLines = (drifts: readonly Compared[]): string[] =>
  drifts.flatMap(({ host, differences }) =>
    differences.length === 0
      ? [`${host}: no difference.`]
      : [
          `${host}:`,
          ...differences.map(
            ({ part, field, expected, found, overwrite }) =>
              `  ${part} ${field}: expected ${expected}, found ${found}${overwrite ? ' (changed outside Drawbridge)' : ''}`,
          ),
        ],
  )
