import { escapeText } from '../../model/escape-text.ts'
import { isHost } from '../record/entry.ts'

/** The message does not follow the rules of its verb. Nothing was done. */
export class InvalidMessage extends Error {}

export function hostIn(host: string): string {
  if (isHost(host)) return host
  throw new InvalidMessage(`${escapeText(host.slice(0, 253))} is not a host.`)
}
