import type { ProblemBody } from '../../src/client/index.ts'

const PRESS_AGAIN = 'Press the button again. Each press gets a new capability.'
const PLAN_AGAIN = 'Plan the exposure again.'

/**
 * What to do next, by error code, in terms of this page. Listed are only the codes whose `nextAction` from the API names HTTP
 * calls; for all other codes the sentence of the API fits.
 */
const STEPS: Readonly<Record<string, string>> = {
  server_not_allowed: 'Choose one of the servers that the help page lists.',
  zone_not_managed: 'Choose one of the zones that the help page lists.',
  port_not_allowed: 'Choose one of the ports that the help page lists.',
  internal_network_required: 'Open this page from an address in the internal network.',
  capability_required: PRESS_AGAIN,
  capability_invalid: PRESS_AGAIN,
  capability_expired: PRESS_AGAIN,
  admin_token_invalid: PRESS_AGAIN,
  plan_not_found: 'Choose one of the plans, or expose a service.',
  host_not_found: 'The host is not exposed. Expose a service under its name.',
  plan_expired: PLAN_AGAIN,
  plan_stale: PLAN_AGAIN,
  changed_elsewhere: 'Press “Overwrite and repair” to discard the change, or Accept to keep it.',
  not_found: 'Load the page again: the service may have another version.',
}

export const nextStep = ({ code, nextAction }: Pick<ProblemBody, 'code' | 'nextAction'>): string =>
  STEPS[code] ?? nextAction
