const PLAN_AGAIN = 'Make a new plan: drawbridge plan HOST, or drawbridge up HOST.'
const FROM_INSIDE = 'Run the command on a machine of the internal network; drawbridge policy lists the networks.'
const OWN_ADDRESS =
  'Name the service with --url by an address that it calls its own, or add yours to publicUrls in its configuration.'
const OTHER_VERSION = 'Bring the service and this command to the same version.'
/** A command gets and spends its capability by itself. */
const RUN_AGAIN = 'Run the command again.'

/**
 * The next act as a command, by the code of the refusal. The API's own nextAction speaks of HTTP calls; where it does not,
 * or the code is not known here, its sentence is right for the command line, too.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  invalid_request: 'Correct what is listed and run the command again; drawbridge help COMMAND shows what it takes.',
  server_not_allowed: 'Choose a server that drawbridge policy lists: --server ID.',
  zone_not_managed: 'Choose a name in one of the zones that drawbridge policy lists.',
  port_not_allowed: 'Choose a port that drawbridge policy allows: --port PORT.',
  certificate_unavailable: 'Remove the reason named above, or plan with --no-tls.',
  internal_network_required: FROM_INSIDE,
  capability_required: RUN_AGAIN,
  capability_invalid: RUN_AGAIN,
  capability_expired: RUN_AGAIN,
  capability_used:
    'Look at what was done with drawbridge status; run the command again if there is still something to do.',
  admin_token_invalid: FROM_INSIDE,
  host_not_allowed: OWN_ADDRESS,
  origin_not_allowed: OWN_ADDRESS,
  plan_not_found: 'List the plans with drawbridge plans, or make one: drawbridge plan HOST.',
  host_not_found:
    'The host is not exposed and may be planned: drawbridge plan HOST. drawbridge status lists every host.',
  plan_expired: PLAN_AGAIN,
  plan_not_applied: 'List the exposures with drawbridge status; only an applied plan can be removed or extended.',
  plan_already_applied: 'Nothing is left to do; drawbridge health HOST shows how the host does.',
  plan_stale: PLAN_AGAIN,
  lease_not_longer: 'Prolong it by more: --for DURATION. drawbridge health HOST shows until when it lives.',
  not_found: OTHER_VERSION,
  method_not_allowed: OTHER_VERSION,
  payload_too_large: 'Run the command again with shorter values.',
}

/** What a person or a script at a command line can do about a refusal. */
export const nextCommand = (code: string, fromApi: string): string =>
  Object.hasOwn(COMMANDS, code) ? (COMMANDS[code] ?? fromApi) : fromApi
