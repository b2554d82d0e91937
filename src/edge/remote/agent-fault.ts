import { escapeText, quoteText } from '../../model/escape-text.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { Verb } from '../wire/verbs.ts'

/** No reply; the request may have been processed. */
export class NoAnswer extends EdgeFault {}

/** The meaning of each kind of fault, for an edge. The agent's own words are only quoted: the agent may be compromised. */
const MEANINGS: Readonly<Record<EdgeFault['kind'], string>> = {
  config_broken: 'its nginx configuration is broken. Repair it and run "nginx -t" there',
  change_invalid: 'it does not accept the change. Nothing was changed',
  changed_meanwhile: 'a host is not what the run expects there. It was not changed',
  changed_elsewhere: 'what stands for the host was changed outside Drawbridge. It was not overwritten',
  write_failed: 'a file could not be read or written',
  not_reloaded: 'nothing proves that nginx runs the new configuration',
  unavailable: 'nginx cannot be used there now',
  logs_keys:
    'nginx logs at debug level, which writes private keys into its log. Set error_log to another level and reload nginx',
  fenced: 'a newer run or another store has changed the host. This run changes nothing there',
  away: 'its agent does not answer',
}

/** Our sentence for a fault that an agent reports. */
export const agentFault = (
  server: string,
  { kind, sentence }: { readonly kind: EdgeFault['kind']; readonly sentence: string },
) => new EdgeFault(kind, `Edge ${server}: ${MEANINGS[kind]}.`, quoteText(sentence))

/** The agent does not know the verb. `version`: its own, if it has told one. */
export function tooOld(server: string, version: string | undefined, verb: Verb): EdgeFault {
  const told = version === undefined ? '' : `, version ${escapeText(version)},`
  const lacks = verb === 'describe' ? 'has another protocol than this service' : `does not know "${verb}"`
  const newer = verb === 'describe' ? ', or this service if the agent is the newer one' : ''
  return new EdgeFault(
    'unavailable',
    `The agent of edge ${server}${told} ${lacks}. Its hosts stay served. Upgrade the agent on ${server}${newer}.`,
  )
}
