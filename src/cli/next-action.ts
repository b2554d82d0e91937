import type { ActWords } from '../client/advice.ts'
import { isExposedHere, type ProblemBody } from '../client/refusal.ts'

const PLAN_AGAIN =
  'Make a new plan: drawbridge plan HOST, or drawbridge up HOST. For a hand-written site: drawbridge adopt HOST.'
const FROM_INSIDE = 'Run the command on a machine in the internal network. drawbridge policy lists the networks.'
const OWN_ADDRESS =
  'Pass --url with an address that the service accepts, or add this address to publicUrls in its configuration.'
const OTHER_VERSION = 'Install the same version of the service and of this command.'
/** Each run of a command gets a new capability. */
const RUN_AGAIN = 'Run the command again.'

/**
 * What to do next, by error code, in terms of commands. Listed are only the codes whose `nextAction` from the API names HTTP
 * calls; for all other codes the sentence of the API fits the command line.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  invalid_request: 'Correct the listed values and run the command again. drawbridge help COMMAND shows its options.',
  server_not_allowed: 'Choose a server that drawbridge policy lists, and pass it with --server ID.',
  zone_not_managed: 'Choose a name in one of the zones that drawbridge policy lists.',
  port_not_allowed: 'Choose a port that drawbridge policy allows, and pass it with --port PORT.',
  certificate_unavailable: 'Fix the problem named above, or plan with --no-tls.',
  internal_network_required: FROM_INSIDE,
  capability_required: RUN_AGAIN,
  capability_invalid: RUN_AGAIN,
  capability_expired: RUN_AGAIN,
  capability_used: 'Check the result with drawbridge status. Run the command again if the result is not what you want.',
  admin_token_invalid: FROM_INSIDE,
  host_not_allowed: OWN_ADDRESS,
  origin_not_allowed: OWN_ADDRESS,
  plan_not_found: 'List the plans with drawbridge plans, or make one: drawbridge plan HOST.',
  host_not_found:
    'The host is not exposed. Plan it with drawbridge plan HOST, or list every host with drawbridge status.',
  plan_expired: PLAN_AGAIN,
  plan_not_applied:
    'Only an applied plan can be removed, extended, repaired, accepted or replaced. List the exposures with drawbridge status.',
  plan_already_applied: 'The plan is already applied. drawbridge health HOST shows the state of the host.',
  plan_stale: PLAN_AGAIN,
  changed_elsewhere:
    'See the change with drawbridge diff HOST. Discard it with drawbridge repair HOST --overwrite, or keep it with drawbridge accept HOST.',
  site_not_adoptable:
    'The site stays as it is. On the machine of the edge, drawbridge adopt HOST --config FILE names file and line of each reason.',
  loss_not_accepted:
    'If the loss does not matter, run the command again with --accept-loss. On the machine of the edge, --config FILE names file and line.',
  lease_not_longer:
    'Pass a longer duration with --for or --expires-in. drawbridge health HOST shows when the exposure expires.',
  apply_failed: 'Fix the step that failed, then run drawbridge apply PLAN again. Everything was rolled back.',
  remove_failed: 'Fix the step that failed, then run the command again. The host is still exposed.',
  repair_failed: 'Fix the step that failed, then run the command again. Everything is as it was before the repair.',
  accept_failed: 'Fix the step that failed, then run the command again. The host is still managed here.',
  rate_limited: 'Wait, then run the command again.',
  not_found: OTHER_VERSION,
  method_not_allowed: OTHER_VERSION,
  payload_too_large: 'Run the command again with shorter values.',
}

const HAS_NO_END =
  'The exposure has no end, so leave --expires-in out. It stays until you remove it with drawbridge down HOST.'

const EXPOSED_HERE =
  'Choose another name. To change your own exposure, run drawbridge up HOST with the new values in the internal network.'

/** What the refused command was about, so that what it says to do next can be typed as it is. */
export interface Subject {
  /** The plan whose run was refused or failed. */
  readonly planId?: string | undefined
  /** As it was typed, or that of the plan. */
  readonly host?: string | undefined
}

export function nextCommand(
  problem: Pick<ProblemBody, 'code' | 'nextAction' | 'checks'> & { readonly expiresAt?: unknown },
  { planId = 'PLAN', host = 'HOST' }: Subject = {},
): string {
  const { code, nextAction } = problem
  const sentence = isExposedHere(problem)
    ? EXPOSED_HERE
    : code === 'lease_not_longer' && problem.expiresAt === null
      ? HAS_NO_END
      : ((Object.hasOwn(COMMANDS, code) ? COMMANDS[code] : undefined) ?? nextAction)
  return (
    sentence
      .replaceAll(/\bHOST\b/g, host)
      .replaceAll(/\bPLAN(?:_ID)?\b/g, planId)
      // A command on the server finds the file by itself.
      .replace(/(drawbridge resolve \S+) --config FILE/, '$1')
  )
}

/** What to do about a cause of a diagnosis, in terms of commands. */
export const commandsFor = (host: string): ActWords => ({
  repair: `Write it again as it was applied: drawbridge repair ${host}.`,
  overwriteOrAccept: `See the change with drawbridge diff ${host}. Discard it with drawbridge repair ${host} --overwrite, or keep it with drawbridge accept ${host}.`,
  overwrite: `See the change with drawbridge diff ${host}. Discard it with drawbridge repair ${host} --overwrite.`,
  renew: `Renew the certificate now: drawbridge renew ${host}.`,
})
